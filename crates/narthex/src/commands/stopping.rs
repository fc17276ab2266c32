//! `narthex stop` and `narthex resume`.

use std::time::Duration;

use narthex_core::{EngagedBy, Slug, SwitchScope};
use narthex_server::owner::{
    Kept, OwnerError, Reply, Request, Resumed, StopInfo, Stopped, Stops, SwitchRequest, Trouble,
};
use narthex_server::{DataDir, OwnerClient};

use super::{once, unexpected};
use crate::ask::Asking;
use crate::cli::{Globals, ResumeArgs, StopArgs};
use crate::house::no_house;
use crate::output::table::{self, Column, Said, bad};
use crate::{Context, Exit, Failure, output};

/// Stops something, whatever state the house is in; or says what is stopped.
pub async fn stop(context: &Context, globals: &Globals, args: &StopArgs) -> Result<Exit, Failure> {
    if args.list {
        return list(&Context::load(globals)?).await;
    }
    let scope = args.scope.scope();
    let request = Request::Switch(SwitchRequest::Engage { scope, reason: args.reason.clone() });
    let tried = tokio::time::timeout(PATIENCE, engage(context, globals, request)).await;
    let stopped = match tried.unwrap_or_else(|_| Err(Unstopped::Unreached(slow()))) {
        Ok(stopped) => stopped,
        Err(Unstopped::Refused(failure)) => return Err(failure),
        Err(Unstopped::Unreached(failure)) => by_file(&DataDir::at(&context.data_dir), &failure)?,
    };
    print(context, &stopped)
}

/// Lets something go on.
pub async fn resume(context: &Context, args: &ResumeArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let lifted = lift(&mut asking, args).await;
    asking.close().await?;
    let resumed = lifted?;
    if context.is_json() {
        output::json(&resumed)?;
        return Ok(Exit::Done);
    }
    let name = words(&resumed.scope, resumed.name.as_ref());
    output::text(format!("No longer stopped: {name}."))?;
    if !resumed.still.is_empty() {
        let still: Vec<String> =
            resumed.still.iter().map(|stop| words(&stop.scope, stop.name.as_ref())).collect();
        output::note(format!("Still stopped: {}.", still.join(", ")));
    }
    Ok(Exit::Done)
}

async fn lift(asking: &mut Asking, args: &ResumeArgs) -> Result<Resumed, Failure> {
    let lift = SwitchRequest::Lift { scope: args.scope.scope() };
    match asking.tell(Request::Switch(lift)).await {
        Ok(Reply::Resumed(resumed)) => Ok(resumed),
        Ok(_) => Err(unexpected()),
        Err(error) if matches!(error.kind, Trouble::NotFound | Trouble::Conflict) => {
            let failure = Failure::from(error);
            match asking.tell(Request::Switch(SwitchRequest::List)).await {
                Ok(Reply::Stops(stops)) => Err(with_way_on(failure, &stops)),
                _ => Err(failure),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// What is stopped, and what to type to let it go on.
fn with_way_on(failure: Failure, stops: &Stops) -> Failure {
    if stops.stop_file_there {
        return failure.hint(format!("rm {}, then narthex resume", stops.stop_file));
    }
    if stops.engaged.is_empty() {
        let message = format!("{}; nothing is stopped", failure.message);
        return Failure { message, hint: None, ..failure };
    }
    let engaged = || stops.engaged.iter();
    let all: Vec<String> = engaged().map(|stop| words(&stop.scope, stop.name.as_ref())).collect();
    let ways: Vec<String> =
        engaged().map(|s| format!("narthex resume{}", flag(&s.scope, s.name.as_ref()))).collect();
    let message = format!("{}; what is stopped: {}", failure.message, all.join(", "));
    Failure { message, ..failure }.hint(ways.join(", or "))
}

/// Why nothing was stopped.
enum Unstopped {
    /// The house answered, and what was asked for makes no sense.
    Refused(Failure),
    /// The house could not be asked, or could not do it.
    Unreached(Failure),
}

/// Through the process that holds the house, which needs no settings; or by holding it.
async fn engage(
    context: &Context,
    globals: &Globals,
    request: Request,
) -> Result<Stopped, Unstopped> {
    let unreached = |error: OwnerError| Unstopped::Unreached(error.into());
    let dir = DataDir::at(&context.data_dir);
    let reply = if let Some(mut client) = OwnerClient::connect(&dir).await.map_err(unreached)? {
        client.ask(&request).await
    } else {
        let context = Context::load(globals).map_err(Unstopped::Unreached)?;
        let mut asking = Asking::open(&context).await.map_err(Unstopped::Unreached)?;
        let reply = asking.tell(request).await;
        asking.close().await.map_err(Unstopped::Unreached)?;
        reply
    };
    match reply {
        Ok(Reply::Stopped(stopped)) => Ok(stopped),
        Ok(_) => Err(Unstopped::Unreached(unexpected())),
        Err(error) => Err(match error.kind {
            Trouble::Unavailable | Trouble::Internal => unreached(error),
            _ => Unstopped::Refused(error.into()),
        }),
    }
}

/// The last resort, which needs nothing but the folder: it stops everything.
fn by_file(dir: &DataDir, why: &Failure) -> Result<Stopped, Failure> {
    if !dir.database().exists() && !dir.has_house() {
        return Err(no_house(dir));
    }
    let file = dir.stop_file();
    let path = file.path().display().to_string();
    file.make().map_err(|error| {
        let message = format!("not stopped: {}; and {path} cannot be made: {error}", why.summary());
        Failure::new(Exit::Failed, message).hint("end the process: kill -9 <pid>")
    })?;
    output::note(format!(
        "The house could not be told ({}), so the file {path} was made. It stops everything, now \
         or as soon as the house is opened.",
        why.summary()
    ));
    let kept = Kept::StopFile(path);
    Ok(Stopped { scope: SwitchScope::Everything, name: None, now: true, kept })
}

fn print(context: &Context, stopped: &Stopped) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(stopped)?;
        return Ok(Exit::Done);
    }
    let name = words(&stopped.scope, stopped.name.as_ref());
    output::text(format!("Stopped{}: {name}.", if stopped.now { "" } else { " already" }))?;
    match &stopped.kept {
        Kept::Store => {
            let flag = flag(&stopped.scope, stopped.name.as_ref());
            output::note(format!("Let it go on: narthex resume{flag}"));
        }
        Kept::StopFile(path) => output::note(format!(
            "The file {path} keeps it so. Let everything go on: rm {path}, then narthex resume"
        )),
    }
    Ok(Exit::Done)
}

/// The option that names it; one without a name is named by its id.
fn flag(scope: &SwitchScope, name: Option<&Slug>) -> String {
    let (option, id) = match scope {
        SwitchScope::Everything => return String::new(),
        SwitchScope::Space(id) => ("space", id.to_string()),
        SwitchScope::Agent(id) => ("agent", id.to_string()),
        SwitchScope::Upstream(name) => ("server", name.to_string()),
    };
    format!(" --{option} {}", name.map_or(id, Slug::to_string))
}

async fn list(context: &Context) -> Result<Exit, Failure> {
    let Reply::Stops(stops) = once(context, Request::Switch(SwitchRequest::List)).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&stops)?;
        return Ok(Exit::Done);
    }
    output::text(drawn(&stops))?;
    Ok(Exit::Done)
}

fn drawn(stops: &Stops) -> String {
    let engaged = if stops.engaged.is_empty() {
        "Nothing is stopped.".to_owned()
    } else {
        table::rows(&COLUMNS, stops.engaged.iter().map(row))
    };
    if stops.stop_file_there {
        return format!("{engaged}\n\nThe file {} is there.", stops.stop_file);
    }
    engaged
}

fn row(stop: &StopInfo) -> [Said; 4] {
    [
        bad(words(&stop.scope, stop.name.as_ref())),
        table::moment(stop.at).into(),
        by(stop.by).into(),
        stop.note.clone().into(),
    ]
}

/// What is stopped, in words.
pub(super) fn words(scope: &SwitchScope, name: Option<&Slug>) -> String {
    let kind = match scope {
        SwitchScope::Everything => return "everything".to_owned(),
        SwitchScope::Space(_) => "space",
        SwitchScope::Agent(_) => "agent",
        SwitchScope::Upstream(_) => "server",
    };
    name.map_or_else(|| scope.to_string(), |name| format!("{kind} {name}"))
}

const fn by(by: EngagedBy) -> &'static str {
    match by {
        EngagedBy::Owner => "you",
        EngagedBy::Signal => "a signal",
        EngagedBy::Sentinel => "the file STOP",
        EngagedBy::Agent => "the agent",
        EngagedBy::House => "the house",
    }
}

fn slow() -> Failure {
    Failure::new(Exit::Unavailable, "the process that holds the house does not answer")
}

/// How long the house may take before the file is made instead.
const PATIENCE: Duration = Duration::from_secs(5);

const COLUMNS: [Column; 4] =
    [Column::Whole("STOPPED"), Column::Whole("SINCE"), Column::Whole("BY"), Column::Flows("WHY")];
