//! `narthex space set`.

use narthex_core::Tier;
use narthex_server::owner::{Reply, Request, SettingRequest};

use super::facts;
use crate::cli::SpaceSetArgs;
use crate::commands::confirm::confirmed;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &SpaceSetArgs) -> Result<Exit, Failure> {
    let show = Request::SpaceShow { space: args.space.clone() };
    let Reply::Space(before) = once(context, show).await? else { return Err(unexpected()) };
    let ceiling = args.ceiling.0;
    let height = |ceiling: Option<Tier>| ceiling.map_or(Tier::ALL.len(), |tier| tier as usize);
    if height(ceiling) > height(before.ceiling) {
        let word = |ceiling: Option<Tier>| ceiling.map_or("none", Tier::as_str);
        let (from, to) = (word(before.ceiling), word(ceiling));
        let question = format!("The ceiling of {} goes from {from} to {to}. Go on?", before.slug);
        confirmed(&question, args.yes)?;
    }
    let set = SettingRequest::SetSpace { space: args.space.clone(), ceiling };
    let Reply::Space(space) = once(context, Request::Setting(set)).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&space)?;
    } else {
        output::text(facts(&space))?;
    }
    Ok(Exit::Done)
}
