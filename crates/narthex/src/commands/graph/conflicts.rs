//! What somebody has to decide on, shown with the way to say so.

use std::fmt::Write as _;

use narthex_graph::merge::Asked;
use narthex_server::owner::{ConflictShown, ConflictsShown};
use serde_json::{Value, json};

use super::source::Source;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

/// Shows conflicts. Nothing was changed, which the exit code says.
pub(super) fn print(context: &Context, found: &ConflictsShown) -> Result<Exit, Failure> {
    if context.is_json() {
        let conflicts: Vec<_> = found.listed.iter().map(|one| &one.conflict).collect();
        output::json(&json!({"merged": false, "total": found.total, "conflicts": conflicts}))?;
        return Ok(Exit::Conflict);
    }
    let many = if found.total == 1 { "conflict" } else { "conflicts" };
    output::text(format!("Nothing was changed: {} {many}.\n", found.total))?;
    for one in &found.listed {
        output::text(shown(one))?;
    }
    let more = (found.total as usize).saturating_sub(found.listed.len());
    if more > 0 {
        output::text(format!("… and {more} more.\n"))?;
    }
    if found.listed.iter().any(|one| ways(one).next().is_some()) {
        output::text(
            "Say how each row is to be in a file, a JSON array of such lines with \"ours\", \
             \"theirs\" or \"gone\" (or \"given\": {…} instead of \"take\"), and give it with \
             --resolve FILE. What is shown is one way.",
        )?;
    }
    Ok(Exit::Conflict)
}

fn shown(one: &ConflictShown) -> String {
    let mut text = format!("{}\n", clean::line(&one.said));
    for side in ["ours", "theirs"] {
        if let Some(has) = one.conflict.get(side).filter(|has| !has.is_null()) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {side:<7} {}", clean::short(&has.to_string(), WIDTH));
        }
    }
    for way in ways(one) {
        let _ = writeln!(text, "  resolve {}", clean::line(&way.to_string()));
    }
    text
}

/// Lines that resolve it.
fn ways(one: &ConflictShown) -> impl Iterator<Item = &Value> {
    one.conflict.get("resolve").and_then(Value::as_array).into_iter().flatten()
}

/// What a file says about rows; nothing if none is given.
pub(super) fn resolutions(file: Option<&std::path::PathBuf>) -> Result<Vec<Asked>, Failure> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let source = Source::read(file)?;
    serde_json::from_str(&source.text).map_err(|error| {
        Failure::new(Exit::Usage, format!("{}: {error}", source.name)).hint(
            "a JSON array of {\"row\":{\"type\":\"Person\",\"key\":\"ada\"},\"take\":\"ours\"}",
        )
    })
}

/// Characters of what a side has.
const WIDTH: usize = 300;
