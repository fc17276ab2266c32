//! `narthex mode`.

use narthex_server::owner::{ModeInfo, Reply, Request, SettingRequest};

use super::confirm::confirmed;
use super::{once, unexpected};
use crate::cli::{ModeArgs, ModeCommand, ModeSetArgs};
use crate::output::table::{self, Said};
use crate::{Context, Exit, Failure, output};

/// Shows or changes the posture.
pub async fn run(context: &Context, args: &ModeArgs) -> Result<Exit, Failure> {
    let info = match &args.command {
        None | Some(ModeCommand::Show) => ask(context, SettingRequest::Mode).await?,
        Some(ModeCommand::Set(args)) => set(context, args).await?,
    };
    if context.is_json() {
        output::json(&info)?;
    } else {
        output::text(facts(info))?;
    }
    Ok(Exit::Done)
}

async fn set(context: &Context, args: &ModeSetArgs) -> Result<ModeInfo, Failure> {
    let now = ask(context, SettingRequest::Mode).await?;
    // One that the settings do not allow is refused anyway, and nobody is asked.
    let most = now.settings.ceiling();
    if args.mode.ceiling() > now.mode.ceiling() && args.mode.ceiling() <= most {
        let question = format!(
            "From {} to {}: calls up to {} become possible. Go on?",
            now.mode,
            args.mode,
            args.mode.ceiling()
        );
        confirmed(&question, args.yes)?;
    }
    ask(context, SettingRequest::SetMode { mode: args.mode }).await
}

async fn ask(context: &Context, request: SettingRequest) -> Result<ModeInfo, Failure> {
    match once(context, Request::Setting(request)).await? {
        Reply::Mode(info) => Ok(info),
        _ => Err(unexpected()),
    }
}

fn facts(info: ModeInfo) -> String {
    let reach = format!("{} (calls up to {})", info.mode, info.mode.ceiling());
    let mut facts: Vec<(&str, Said)> =
        vec![("mode", reach.into()), ("settings allow", info.settings.to_string().into())];
    if let Some(before) = info.before {
        facts.push(("before", before.to_string().into()));
    }
    table::facts(facts)
}
