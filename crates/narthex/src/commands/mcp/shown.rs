//! What a person decides on: a start, and what a server offers.

use std::fmt::Write as _;

use narthex_server::owner::{DefinitionShown, FindingShown, OfferShown, ServerDetail, StartShown};

use crate::output::clean;
use crate::output::table::{self, Column, Said, bad, fair, good};

/// What would be started.
pub(super) fn start(detail: &ServerDetail) -> String {
    let StartShown { line, program, sha256, also, cwd, names, auth, walls, uncovered, .. } =
        &detail.start;
    let mut facts: Vec<(&'static str, Said)> = vec![("server", detail.server.name.clone().into())];
    let what = if detail.server.kind == "http" { "url" } else { "command" };
    facts.push((what, clean::text(line).into()));
    if let Some(program) = program {
        facts.push(("program", clean::text(program).into()));
    }
    if let Some(sha256) = sha256 {
        facts.push(("sha256", sha256.to_string().into()));
    }
    for (file, digest) in also {
        facts.push(("also runs", format!("{} ({digest})", clean::text(file)).into()));
    }
    if let Some(cwd) = cwd {
        facts.push(("started in", clean::text(cwd).into()));
    }
    let masked: Vec<String> = names.iter().map(|name| format!("{name}=***")).collect();
    let masked = if masked.is_empty() { "none".to_owned() } else { masked.join(" ") };
    facts.push((if what == "url" { "headers" } else { "variables" }, masked.into()));
    if let Some(auth) = auth {
        facts.push(("credential", auth.clone().into()));
    }
    let open = walls.starts_with("none: it runs");
    facts.push(("walls", if open { bad(walls.clone()) } else { walls.clone().into() }));
    if let Some(uncovered) = uncovered {
        facts.push(("WARNING", bad(uncovered.clone())));
    }
    if let Some(trouble) = &detail.trouble {
        facts.push(("TROUBLE", bad(clean::text(trouble))));
    }
    if let Some(digest) = &detail.start.digest {
        facts.push(("digest", digest.to_string().into()));
    }
    facts.push(("start", stands(&detail.start.stands)));
    let mut out = table::facts(facts);
    if let Some(diff) = &detail.start.diff {
        // Writing to a String cannot fail.
        let _ = write!(out, "\n\nwhat is different from what was approved\n{}", indented(diff));
    }
    out
}

/// What a server offers, each definition in a line, and what was found below.
pub(super) fn offer(offer: &OfferShown) -> String {
    let rows = offer.definitions.iter().map(|definition| -> [Said; 4] {
        [
            clean::text(&definition.name.to_string()).into(),
            stands(&definition.stands),
            found(definition),
            first_line(&definition.description).into(),
        ]
    });
    let mut out = table::rows(&COLUMNS, rows);
    for definition in &offer.definitions {
        let name = clean::text(&definition.name.to_string());
        if definition.stands != "approved" && definition.barred.is_none() {
            let _ = write!(out, "\n\n{name}, whole\n{}", indented(&whole(&definition.text)));
        }
        if let Some(why) = &definition.barred {
            let _ = write!(out, "\n\n{name} cannot be approved: {why}");
        }
        for finding in &definition.findings {
            let _ = write!(out, "\n\n{name}: {}", said(finding));
        }
        if let Some(diff) = &definition.diff {
            let _ = write!(out, "\n\n{name} is another than was approved\n{}", indented(diff));
        }
    }
    for finding in &offer.refused {
        let _ = write!(out, "\n\nnot taken: {}", said(finding));
    }
    if !offer.gone.is_empty() {
        let _ = write!(out, "\n\nno longer offered: {}", clean::text(&super::names(&offer.gone)));
    }
    out
}

/// A definition to be read, a value a line; the end of a very long one is only in `--output json`.
fn whole(text: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(text);
    let pretty = value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    let pretty = pretty.unwrap_or_else(|| text.to_owned());
    if pretty.chars().nth(MAX_WHOLE).is_none() {
        return pretty;
    }
    let start: String = pretty.chars().take(MAX_WHOLE).collect();
    format!("{start}\n… the rest is in: narthex mcp diff SERVER --output json")
}

fn said(finding: &FindingShown) -> String {
    let place = if finding.place.is_empty() { "all of it" } else { finding.place.as_str() };
    format!(
        "{} ({}) at {}\n    {}",
        finding.code,
        finding.severity,
        clean::text(place),
        clean::text(&finding.text)
    )
}

fn found(definition: &DefinitionShown) -> Said {
    let count = definition.findings.len();
    match (&definition.barred, definition.quarantined, count) {
        (Some(_), ..) => bad("barred".to_owned()),
        (None, true, _) => bad(format!("quarantined ({count})")),
        (None, false, 0) => good("nothing".to_owned()),
        (None, false, _) => fair(count.to_string()),
    }
}

/// How something stands to what was approved.
pub(super) fn stands(word: &str) -> Said {
    match word {
        "approved" => good(word.to_owned()),
        "changed" => bad(word.to_owned()),
        _ => fair(word.to_owned()),
    }
}

pub(super) fn first_line(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(100).collect();
    clean::text(&line)
}

fn indented(text: &str) -> String {
    clean::text(text).lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Characters of one definition on a terminal.
const MAX_WHOLE: usize = 4_000;

const COLUMNS: [Column; 4] = [
    Column::Flows("DEFINITION"),
    Column::Whole("STANDS"),
    Column::Whole("FOUND"),
    Column::Flows("SAYS"),
];
