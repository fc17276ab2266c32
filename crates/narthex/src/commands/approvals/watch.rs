//! `narthex approvals list --watch`.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use narthex_core::ApprovalId;
use narthex_server::owner::{ApprovalInfo, Reply};

use super::list::{drawn, request};
use crate::ask::Asking;
use crate::cli::ApprovalsListArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::{Context, Exit, Failure, output, stop};

/// Shows what waits, and what comes, until it is told to stop.
pub(super) async fn run(context: &Context, args: &ApprovalsListArgs) -> Result<Exit, Failure> {
    let stop = stop::on_signal()?;
    let mut seen = Seen::default();
    let mut reply = Some(once(context, request(args)).await?);
    loop {
        match reply.take() {
            Some(Reply::Approvals(list)) => seen.show(context, &list)?,
            Some(_) => return Err(unexpected()),
            None => {}
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(Exit::Done),
            () = tokio::time::sleep(EVERY) => {}
        }
        // Only through a process that holds the house already: if this one took hold of it each
        // second, a server could not start. While none runs, nothing new can come either.
        if let Some(mut asking) = Asking::through(context).await? {
            reply = Some(asking.ask(request(args)).await?);
        }
    }
}

/// What was shown already.
#[derive(Debug, Default)]
struct Seen {
    ids: BTreeSet<ApprovalId>,
    drawn: Option<String>,
}

impl Seen {
    fn show(&mut self, context: &Context, list: &[ApprovalInfo]) -> Result<(), Failure> {
        if !context.is_json() && io::stdout().is_terminal() {
            return self.draw(list);
        }
        // Oldest first, as they came.
        for info in list.iter().rev().filter(|info| !self.ids.contains(&info.id)) {
            if context.is_json() {
                output::json_line(info)?;
            } else {
                output::text(line(info))?;
            }
        }
        self.ids = list.iter().map(|info| info.id).collect();
        Ok(())
    }

    fn draw(&mut self, list: &[ApprovalInfo]) -> Result<(), Failure> {
        let table = drawn(list);
        if self.drawn.as_ref() == Some(&table) {
            return Ok(());
        }
        output::text(format!(
            "{CLEAR}{table}\n\nDecide with: narthex approvals show <ID>. Ctrl-C ends."
        ))?;
        self.drawn = Some(table);
        Ok(())
    }
}

/// One request on one line.
pub(crate) fn line(info: &ApprovalInfo) -> String {
    let target = info.target.as_ref().map(|target| format!(" → {target}")).unwrap_or_default();
    clean::line(&format!(
        "{} {} {} asks for {} on {}{target}",
        info.id, info.tier, info.agent, info.tool, info.surface
    ))
}

const EVERY: Duration = Duration::from_secs(1);
/// An empty screen, written from its top.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";
