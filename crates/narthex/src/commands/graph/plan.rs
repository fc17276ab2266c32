//! `narthex graph plan`.

use narthex_server::owner::{GraphReply, GraphRequest, StepShown};

use super::ask_with;
use super::source::Source;
use crate::cli::GraphPlanArgs;
use crate::commands::unexpected;
use crate::output::table::{self, Column, Said, bad, fair, good};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphPlanArgs) -> Result<Exit, Failure> {
    let source = Source::required(&args.source, "schema")?;
    let request = GraphRequest::Plan {
        graph: args.graph.clone(),
        branch: args.branch.clone(),
        schema: source.text.clone(),
    };
    let GraphReply::Plan(steps) = ask_with(context, Some(&source), request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&steps)?;
    } else if steps.is_empty() {
        output::text("Nothing would change.")?;
    } else {
        output::text(table::rows(&COLUMNS, steps.iter().map(row)))?;
    }
    Ok(Exit::Done)
}

fn row(step: &StepShown) -> [Said; 3] {
    let class = match step.class.as_str() {
        "additive" => good("additive"),
        "needs_check" => fair("needs check"),
        "destructive" => bad("destructive"),
        other => bad(other),
    };
    let advice = step.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
    [class, step.at.as_str().into(), format!("{}{advice}", step.sentence).into()]
}

const COLUMNS: [Column; 3] =
    [Column::Whole("CLASS"), Column::Flows("AT"), Column::Flows("WHAT CHANGES")];
