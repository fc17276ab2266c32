//! `narthex token list`.

use narthex_server::owner::{Reply, Request, TokenInfo};

use crate::cli::TokenListArgs;
use crate::commands::{once, unexpected};
use crate::output::table::{self, Column, Said, bad, good};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &TokenListArgs) -> Result<Exit, Failure> {
    let request = Request::TokenList { agent: args.agent.clone() };
    let Reply::Tokens(tokens) = once(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&tokens)?;
        return Ok(Exit::Done);
    }
    if tokens.is_empty() {
        output::text("No tokens yet. Make one: narthex token create <agent>")?;
        return Ok(Exit::Done);
    }
    output::text(table::rows(&COLUMNS, tokens.iter().map(row)))?;
    Ok(Exit::Done)
}

fn row(token: &TokenInfo) -> [Said; 5] {
    let state = token.state.as_str();
    [
        token.id.to_string().into(),
        token.agent.to_string().into(),
        if state == "live" { good(state) } else { bad(state) },
        table::moment_or_dash(token.last_used).into(),
        token.label.as_str().into(),
    ]
}

const COLUMNS: [Column; 5] = [
    Column::Whole("ID"),
    Column::Whole("AGENT"),
    Column::Whole("STATE"),
    Column::Flows("LAST USED"),
    Column::Flows("LABEL"),
];
