//! `narthex page edit`.

use std::io::IsTerminal as _;

use narthex_core::PageDraft;
use narthex_server::owner::{Reply, Request};

use super::{editor, print};
use crate::ask::Asking;
use crate::cli::PageEditArgs;
use crate::commands::{once, text_input, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PageEditArgs) -> Result<Exit, Failure> {
    let request = if says_nothing(args) && std::io::stdin().is_terminal() {
        let Some(request) = edited(context, args).await? else {
            output::note("Nothing changed.");
            return Ok(Exit::Done);
        };
        request
    } else {
        given(args)?
    };
    let Reply::PageWritten(written) = once(context, request).await? else {
        return Err(unexpected());
    };
    print(context, &written)
}

fn says_nothing(args: &PageEditArgs) -> bool {
    let text = args.text.body.is_none() && args.text.file.is_none();
    text && says_only_text(args)
}

fn says_only_text(args: &PageEditArgs) -> bool {
    args.title.is_none() && args.slug.is_none() && args.tags.is_empty() && !args.clear_tags
}

/// What the options say. Standard input is read only when nothing else is said.
fn given(args: &PageEditArgs) -> Result<Request, Failure> {
    let named = args.text.body.is_some() || args.text.file.is_some();
    let body = if named || says_only_text(args) { text_input::given(&args.text)? } else { None };
    Ok(Request::PageEdit {
        space: args.space.clone(),
        page: args.page.clone(),
        base: args.base,
        slug: args.slug.clone(),
        title: args.title.clone(),
        body,
        tags: (args.clear_tags || !args.tags.is_empty()).then(|| args.tags.clone()),
    })
}

/// What the person made of the page in their editor; nothing if they left it as it was.
async fn edited(context: &Context, args: &PageEditArgs) -> Result<Option<Request>, Failure> {
    let (before, revision) = current(context, args).await?;
    // The house is let go of meanwhile: writing takes as long as it takes.
    let after = editor::edit(&before)?;
    if after == before {
        return Ok(None);
    }
    let PageDraft { slug, title, body, tags } = after;
    Ok(Some(Request::PageEdit {
        space: args.space.clone(),
        page: args.page.clone(),
        base: Some(args.base.unwrap_or(revision)),
        slug: (slug != before.slug).then(|| slug.to_string()),
        title: (title != before.title).then(|| title.as_str().to_owned()),
        body: (body != before.body).then_some(body),
        tags: (tags != before.tags).then_some(tags),
    }))
}

async fn current(context: &Context, args: &PageEditArgs) -> Result<(PageDraft, u32), Failure> {
    let mut asking = Asking::open(context).await?;
    let request = Request::PageShow { space: args.space.clone(), page: args.page.clone() };
    let reply = asking.ask(request).await;
    asking.close().await?;
    match reply? {
        Reply::Page(view) => Ok((view.page.draft, view.page.revision)),
        _ => Err(unexpected()),
    }
}
