//! `narthex types`.

use std::fs;

use narthex_server::owner::{CodeReply, CodeRequest, Reply, Request};
use serde_json::json;

use super::{once, unexpected};
use crate::cli::TypesArgs;
use crate::{Context, Exit, Failure, output};

/// Prints declarations, or writes them.
pub async fn run(context: &Context, args: &TypesArgs) -> Result<Exit, Failure> {
    let (agent, module) = (args.agent.clone(), args.module.clone());
    let request = Request::Code(CodeRequest::Types { agent, module });
    let Reply::Code(CodeReply::Types(files)) = once(context, request).await? else {
        return Err(unexpected());
    };
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
        let mut written = Vec::new();
        for (name, text) in &files {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| Failure::file(&path, &error))?;
            written.push(path.display().to_string());
        }
        if context.is_json() {
            output::json(&json!({"written": written}))?;
        } else {
            output::text(written.join("\n"))?;
        }
        return Ok(Exit::Done);
    }
    if context.is_json() {
        let files: Vec<_> =
            files.iter().map(|(name, text)| json!({"file": name, "text": text})).collect();
        output::json(&files)?;
    } else {
        let texts: Vec<&str> = files.iter().map(|(_, text)| text.trim_end()).collect();
        output::text(texts.join("\n\n"))?;
    }
    Ok(Exit::Done)
}
