//! `narthex page list`.

use narthex_core::PageSummary;
use narthex_server::owner::{Reply, Request};

use crate::ask::Asking;
use crate::cli::PageListArgs;
use crate::commands::unexpected;
use crate::output::table::{self, Column};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PageListArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let limit = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let listed = pages(&mut asking, &args.space, args.after.clone(), limit).await;
    asking.close().await?;
    let listed = listed?;
    if context.is_json() {
        output::json(&listed)?;
        return Ok(Exit::Done);
    }
    if listed.is_empty() {
        output::text("No pages here.")?;
        return Ok(Exit::Done);
    }
    output::text(table::rows(&COLUMNS, listed.iter().map(row)))?;
    Ok(Exit::Done)
}

/// The pages of a space by slug, at most so many, asked for a part at a time.
pub(super) async fn pages(
    asking: &mut Asking,
    space: &str,
    mut after: Option<String>,
    limit: usize,
) -> Result<Vec<PageSummary>, Failure> {
    let mut all: Vec<PageSummary> = Vec::new();
    while all.len() < limit {
        let wanted = u32::try_from(limit - all.len()).unwrap_or(PART).min(PART);
        let request =
            Request::PageList { space: space.to_owned(), after: after.clone(), limit: wanted };
        let Reply::Pages(part) = asking.ask(request).await? else { return Err(unexpected()) };
        let Some(last) = part.last() else { break };
        after = Some(last.slug.to_string());
        all.extend(part);
    }
    Ok(all)
}

fn row(page: &PageSummary) -> [String; 5] {
    [
        page.slug.to_string(),
        page.revision.to_string(),
        table::moment(page.updated),
        page.title.as_str().to_owned(),
        page.tags.join(", "),
    ]
}

/// Pages asked for at once.
const PART: u32 = 500;

const COLUMNS: [Column; 5] = [
    Column::Flows("PAGE"),
    Column::Whole("REV"),
    Column::Whole("UPDATED"),
    Column::Flows("TITLE"),
    Column::Flows("TAGS"),
];
