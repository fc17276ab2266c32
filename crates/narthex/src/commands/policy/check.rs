//! `narthex policy check`.

use narthex_policy::{SCHEMA, STANDARD};
use serde_json::json;

use crate::cli::PolicyCheckArgs;
use crate::config::policies::PolicyFiles;
use crate::{Context, Exit, Failure, output};

pub(super) fn run(context: &Context, args: &PolicyCheckArgs) -> Result<Exit, Failure> {
    if args.schema || args.standard {
        let text = if args.schema { SCHEMA } else { STANDARD };
        return print(context, if args.schema { "schema" } else { "standard" }, text);
    }
    // A folder that was named must be there; the one of the settings may be missing.
    let folder =
        args.folder.clone().unwrap_or_else(|| context.config.policy_folder(&context.data_dir));
    let files = if args.folder.is_some() {
        PolicyFiles::read(&folder)?
    } else {
        PolicyFiles::read_if_there(&folder)?
    };
    let engine = files.engine()?;
    let names: Vec<&str> = files.as_slice().iter().map(|(name, _)| name.as_str()).collect();
    if context.is_json() {
        output::json(&json!({
            "ok": true,
            "folder": folder,
            "files": names,
            "policies": engine.count(),
            "version": engine.version(),
        }))?;
    } else {
        let read = match names.len() {
            0 => format!("no files in {}", folder.display()),
            1 => "one file".to_owned(),
            n => format!("{n} files"),
        };
        output::text(format!("ok: {} policies, the standard ones and {read}", engine.count()))?;
    }
    Ok(Exit::Done)
}

fn print(context: &Context, name: &str, text: &str) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(&json!({ name: text }))?;
    } else {
        output::text(text.trim_end())?;
    }
    Ok(Exit::Done)
}
