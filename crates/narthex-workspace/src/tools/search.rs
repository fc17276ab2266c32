//! `search`: full text over the pages in scope.

use narthex_core::{Bound, PolicyAction, Subject, Taint};
use narthex_gate::{ToolError, ToolOutput};
use narthex_store::{Hit, SearchQuery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Declared, Does, answer};
use crate::reach::Reach;

pub(crate) const DECLARED: Declared = Declared {
    name: "search",
    title: "Search pages",
    description: "Full-text search over the pages of your space. Words are matched anywhere; \
                  \"quoted words\" are a phrase and word* a prefix. Returns the best hits with a \
                  snippet in which the match stands between ** and **. Use `read` with a hit's id \
                  for the whole page.",
    actions: &[PolicyAction::Search],
    does: Does::Look,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to look for.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) query: String,
    /// How many hits at most (default 10).
    #[schemars(with = "u32", range(min = 1, max = 50))]
    #[serde(default)]
    pub(crate) limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The hits, best first.
    hits: Vec<HitOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HitOut {
    /// What it is: always a page.
    kind: &'static str,
    /// Its id, for `read`.
    id: String,
    /// Its slug, for links and for `read`.
    slug: String,
    /// Its title.
    title: String,
    /// Where it matched, with the match between ** and **.
    snippet: String,
    /// How well it matched; higher is better.
    score: f64,
    /// The space it is in, where several were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    space: Option<String>,
}

pub(crate) async fn run(
    reach: &Reach<'_>,
    input: Input,
    named: Option<&str>,
    show_space: bool,
) -> Result<ToolOutput, ToolError> {
    let query = SearchQuery::parse(&input.query);
    let limit = input.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let mut found: Vec<(Option<String>, Hit)> = Vec::new();
    for space in reach.spaces(named).await? {
        let hits = reach.store.search(space.id, &query, limit).await?;
        let label = show_space.then(|| space.slug.to_string());
        found.extend(hits.into_iter().map(|hit| (label.clone(), hit)));
    }
    found.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
    found.truncate(limit as usize);
    let untrusted = found.iter().any(|(_, hit)| hit.page.foreign_history);
    let taint = Taint { private: !found.is_empty(), untrusted };
    let subject = Subject {
        kind: Some("page".to_owned()),
        count: Some(found.len() as u64),
        ..Subject::default()
    };
    let output =
        Output { hits: found.into_iter().map(|(space, hit)| HitOut::of(hit, space)).collect() };
    Ok(ToolOutput::new(answer(&output)?).about(taint, subject))
}

impl HitOut {
    fn of(hit: Hit, space: Option<String>) -> Self {
        Self {
            kind: "page",
            id: hit.page.id.to_string(),
            slug: hit.page.slug.to_string(),
            title: hit.page.title.to_string(),
            snippet: hit.snippet,
            score: hit.score,
            space,
        }
    }
}

const DEFAULT_HITS: u32 = 10;
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
const MAX_HITS: u32 = Bound::SEARCH_HITS as u32;
