//! `narthex init`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use narthex_server::DataDir;
use serde_json::json;

use crate::cli::InitArgs;
use crate::config::reference;
use crate::house::OpenHouse;
use crate::{Context, Exit, Failure, output};

/// Makes a house; one that is there stays as it is.
pub async fn run(context: &Context, _args: &InitArgs) -> Result<Exit, Failure> {
    let dir = DataDir::at(&context.data_dir);
    let new = !dir.has_house();
    dir.create()?;
    let config = write_config(&dir)?;
    // Opening founds the ledger, and shows at once if something is wrong.
    if new {
        OpenHouse::hold(context, "init").await?.close().await?;
    }
    let shown = dir.root().display().to_string();
    if context.is_json() {
        output::json(&json!({"data_dir": shown, "created": new, "config": config}))?;
    } else {
        let word = if new { "made" } else { "there already" };
        let option =
            if context.data_dir_named { format!(" --data-dir {shown}") } else { String::new() };
        output::text(format!(
            "house {word}: {shown}\n\nNext:\n  \
             narthex space add notes{option}\n  \
             narthex page import ./notes --space notes{option}\n  \
             narthex agent add claude --space notes{option}\n  \
             narthex token create claude{option}\n  \
             narthex serve{option}"
        ))?;
    }
    Ok(Exit::Done)
}

/// Every key with its default, commented out; never over a file that is there.
pub fn write_config(dir: &DataDir) -> Result<String, Failure> {
    let path = dir.config_file();
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    match made.and_then(|mut file| file.write_all(reference::example().as_bytes())) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(Failure::file(&path, &error)),
    }
    Ok(path.display().to_string())
}
