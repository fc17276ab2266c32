//! `narthex page show`.

use narthex_core::{Author, PageRef, PageView};
use narthex_server::owner::{Reply, Request};

use crate::cli::PageNameArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::output::table::{self, Said, fair};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PageNameArgs) -> Result<Exit, Failure> {
    let request = Request::PageShow { space: args.space.clone(), page: args.page.clone() };
    let Reply::Page(view) = once(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&view)?;
    } else {
        output::text(shown(&view))?;
    }
    Ok(Exit::Done)
}

fn shown(view: &PageView) -> String {
    let page = &view.page;
    let mut facts: Vec<(&str, Said)> = vec![
        ("page", page.draft.slug.to_string().into()),
        ("title", page.draft.title.as_str().into()),
        ("id", page.id.to_string().into()),
        ("revision", format!("{} of {}", page.revision, table::moment(page.updated)).into()),
        ("by", author(view)),
    ];
    for (name, refs) in [("links", &view.links), ("backlinks", &view.backlinks)] {
        if !refs.is_empty() {
            facts.push((name, refs.iter().map(named).collect::<Vec<_>>().join(", ").into()));
        }
    }
    if !page.draft.tags.is_empty() {
        facts.push(("tags", page.draft.tags.join(", ").into()));
    }
    format!("{}\n\n{}", table::facts(facts), clean::text(page.draft.body.trim_end()))
}

fn author(view: &PageView) -> Said {
    match view.page.provenance.author {
        Author::Owner if view.page.foreign_history => fair("owner, after agents"),
        Author::Owner => "owner".into(),
        Author::Agent(id) => fair(format!("agent {id}")),
    }
}

/// A link to a page that is not there is marked.
fn named(reference: &PageRef) -> String {
    let missing = if reference.title.is_none() { " (missing)" } else { "" };
    format!("{}{missing}", reference.slug)
}
