//! `narthex agent list`.

use narthex_server::owner::{Reply, Request};

use super::{space, state};
use crate::commands::{once, taint, unexpected};
use crate::output::table::{self, Column, Said};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let Reply::Agents(agents) = once(context, Request::AgentList).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&agents)?;
        return Ok(Exit::Done);
    }
    if agents.is_empty() {
        output::text("No agents yet. Register one: narthex agent add <slug> --space <slug>")?;
        return Ok(Exit::Done);
    }
    let rows = agents.iter().map(|agent| -> [Said; 7] {
        [
            agent.slug.to_string().into(),
            space(agent),
            agent.effective_ceiling.to_string().into(),
            state(agent),
            taint::said(agent.taint()),
            agent.open_proposals.to_string().into(),
            agent.grants.to_string().into(),
        ]
    });
    output::text(table::rows(&COLUMNS, rows))?;
    Ok(Exit::Done)
}

const COLUMNS: [Column; 7] = [
    Column::Whole("AGENT"),
    Column::Whole("SPACE"),
    Column::Whole("CEILING"),
    Column::Whole("STATE"),
    Column::Flows("TOOK IN"),
    Column::Whole("OPEN"),
    Column::Flows("CAN"),
];
