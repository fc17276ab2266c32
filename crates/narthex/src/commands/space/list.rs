//! `narthex space list`.

use narthex_server::owner::{Reply, Request};

use crate::commands::{once, unexpected};
use crate::output::table::{self, Column};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let Reply::Spaces(spaces) = once(context, Request::SpaceList).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&spaces)?;
        return Ok(Exit::Done);
    }
    if spaces.is_empty() {
        output::text("No spaces yet. Make one: narthex space add <slug>")?;
        return Ok(Exit::Done);
    }
    let rows = spaces.iter().map(|space| {
        [
            space.slug.to_string(),
            space.id.to_string(),
            space.pages.to_string(),
            space.name.as_str().to_owned(),
        ]
    });
    output::text(table::rows(&COLUMNS, rows))?;
    Ok(Exit::Done)
}

const COLUMNS: [Column; 4] =
    [Column::Whole("SPACE"), Column::Whole("ID"), Column::Whole("PAGES"), Column::Flows("NAME")];
