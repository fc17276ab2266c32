//! Random agents, pages and calls against a reference model of ten lines: no disagreement, no
//! foreign byte in any answer. More cases with `PROPTEST_CASES`.

use std::collections::BTreeSet;

use narthex_core::{Grant, PolicyAction, Tier};
use narthex_server::owner::Request;
use narthex_test::{Answer, Client, Era, HouseOptions, TestHouse};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

const SPACES: [&str; 3] = ["s0", "s1", "s2"];
const SLUGS: [&str; 4] = ["p0", "p1", "p2", "p3"];
const GRANTS: [&str; 10] = [
    "read",
    "suggest",
    "suggest:create",
    "suggest:update:page",
    "suggest:delete",
    "read:search",
    "read:read",
    "read:context",
    "suggest:*:conversation",
    "read:*:page",
];

/// A house before anyone knocks.
#[derive(Debug, Clone)]
struct World {
    agents: Vec<AgentIs>,
    /// Which of the slugs exist in which space.
    pages: [[bool; 4]; 3],
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct AgentIs {
    space: Option<usize>,
    grants: Vec<usize>,
    ceiling: Tier,
    disabled: bool,
}

#[derive(Debug, Clone)]
enum Step {
    Call {
        agent: usize,
        does: Does,
        page: Named,
        consent: Option<Tier>,
        era: Era,
    },
    /// The owner moves a page elsewhere, if it is there and the slug is free.
    Move {
        from: usize,
        slug: usize,
        to: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Search,
    Read,
    Context,
    Create,
    Update,
    Delete,
}

/// How a page is named: by its slug, by the id of one somewhere, or by something that is none.
#[derive(Debug, Clone, Copy)]
enum Named {
    Slug(usize),
    Id(usize, usize),
    Nothing,
}

/// What the model says, and what the house said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Ok,
    Refused(String),
    UnknownTool,
    Door(u16),
}

impl Does {
    const fn action(self) -> PolicyAction {
        match self {
            Self::Search => PolicyAction::Search,
            Self::Read => PolicyAction::Read,
            Self::Context => PolicyAction::Context,
            Self::Create => PolicyAction::Create,
            Self::Update => PolicyAction::Update,
            Self::Delete => PolicyAction::Delete,
        }
    }

    const fn proposes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete)
    }

    /// The actions the same tool could be called for.
    fn siblings(self) -> Vec<PolicyAction> {
        if self.proposes() {
            vec![PolicyAction::Create, PolicyAction::Update, PolicyAction::Delete]
        } else {
            vec![self.action()]
        }
    }
}

/// A page as the model keeps it: where it is, its slug, its id, and the word only it contains.
#[derive(Debug, Clone)]
struct PageIs {
    space: usize,
    slug: usize,
    id: String,
    canary: String,
}

/// The reference: ten lines that say who may do what.
fn expected(
    agent: &AgentIs,
    pages: &[PageIs],
    does: Does,
    page: Named,
    consent: Option<Tier>,
) -> Said {
    let (true, Some(space)) = (!agent.disabled, agent.space) else {
        return Said::Door(if agent.disabled { 401 } else { 403 });
    };
    let granted = granted(agent);
    let there = |page: &&PageIs| page.space == space;
    let found = pages.iter().filter(there).any(|it| is_named(it, page, pages));
    let taken = pages.iter().filter(there).any(|it| matches!(page, Named::Slug(n) if n == it.slug));
    match does {
        _ if !does.siblings().iter().any(|action| granted.contains(action)) => Said::UnknownTool,
        _ if !granted.contains(&does.action()) => Said::Refused("policy_denied".into()),
        _ if does.proposes() && agent.ceiling.min(consent.unwrap_or(Tier::T3)) < Tier::T1 => {
            Said::Refused("over_ceiling".into())
        }
        Does::Read | Does::Update | Does::Delete if !found => Said::Refused("not_found".into()),
        Does::Create if taken => Said::Refused("conflict".into()),
        _ => Said::Ok,
    }
}

fn granted(agent: &AgentIs) -> BTreeSet<PolicyAction> {
    let grants = agent.grants.iter().filter_map(|n| GRANTS[*n].parse::<Grant>().ok());
    let pages = grants.flat_map(|grant| grant.expand());
    pages.filter(|(_, _, entity)| entity.as_str() == "page").map(|(_, action, _)| action).collect()
}

fn is_named(it: &PageIs, named: Named, pages: &[PageIs]) -> bool {
    match named {
        Named::Slug(slug) => it.slug == slug,
        Named::Id(..) => id_of(named, pages).is_some_and(|id| id == it.id),
        Named::Nothing => false,
    }
}

/// The id of a page that was made in a space, wherever it is now.
fn id_of(named: Named, pages: &[PageIs]) -> Option<String> {
    let Named::Id(space, slug) = named else { return None };
    let made = format!("canary{space}x{slug}");
    pages.iter().find(|page| page.canary == made).map(|page| page.id.clone())
}

fn said(answer: &Answer) -> Said {
    match (answer.status, answer.tool_code(), answer.rpc_code()) {
        (200, Some(code), _) => Said::Refused(code),
        (200, None, Some(-32602)) => Said::UnknownTool,
        (200, None, None) if answer.is_ok() => Said::Ok,
        (status, ..) => Said::Door(status),
    }
}

async fn run(world: &World) -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.gate.refusal_window = std::time::Duration::ZERO;
    let folder = tempfile::tempdir()?;
    let house = TestHouse::open(&folder.path().join("house"), options).await?;
    let mut pages = settle(&house, world).await?;
    let clients = register(&house, world).await?;
    for (n, step) in world.steps.iter().enumerate() {
        match step {
            Step::Move { from, slug, to } => {
                let (page, space, to_space) =
                    (SLUGS[*slug].into(), SPACES[*from].into(), SPACES[*to].into());
                let free = !pages.iter().any(|page| page.space == *to && page.slug == *slug);
                let moved =
                    house.owner(Request::PageMove { space, page, to: to_space }).await.is_ok();
                let it = pages.iter_mut().find(|page| page.space == *from && page.slug == *slug);
                anyhow::ensure!(moved == (it.is_some() && free), "step {n}: {step:?}");
                if let Some(it) = it.filter(|_| moved) {
                    it.space = *to;
                }
            }
            Step::Call { agent, does, page, consent, era } => {
                let is = &world.agents[*agent];
                let before = house.seq().await?;
                let client = clients[*agent].speaking(*era);
                let answer = call(&client, *does, *page, *consent, &pages).await?;
                let should = expected(is, &pages, *does, *page, *consent);
                anyhow::ensure!(
                    said(&answer) == should,
                    "step {n}: {step:?} of {is:?}: {should:?}, but {answer:?}"
                );
                for other in pages.iter().filter(|page| Some(page.space) != is.space) {
                    anyhow::ensure!(
                        !answer.text.contains(&other.canary),
                        "step {n}: {step:?} of {is:?} shows {}",
                        other.canary
                    );
                }
                let records = house.seq().await? - before;
                let two = does.proposes() && should == Said::Ok;
                anyhow::ensure!(records == 1 + u64::from(two), "step {n}: {step:?} left {records}");
            }
        }
    }
    house.verify().await?;
    house.stop().await?;
    Ok(())
}

/// Makes the spaces and their pages; each says a word of its own and links to all slugs.
async fn settle(house: &TestHouse, world: &World) -> anyhow::Result<Vec<PageIs>> {
    let mut pages = Vec::new();
    for (space, slugs) in world.pages.iter().enumerate() {
        house.owner(Request::SpaceAdd { slug: SPACES[space].into(), name: None }).await?;
        for slug in (0..SLUGS.len()).filter(|slug| slugs[*slug]) {
            let canary = format!("canary{space}x{slug}");
            let body = format!("common words {canary} [[p0]] [[p1]] [[p2]] [[p3]]");
            house
                .owner(Request::PageAdd {
                    space: SPACES[space].into(),
                    slug: Some(SLUGS[slug].into()),
                    title: format!("Title {canary}"),
                    body,
                    tags: vec![canary.clone()],
                })
                .await?;
            let id = house.page(SPACES[space], SLUGS[slug]).await?.page.id.to_string();
            pages.push(PageIs { space, slug, id, canary });
        }
    }
    Ok(pages)
}

async fn register(house: &TestHouse, world: &World) -> anyhow::Result<Vec<Client>> {
    let mut clients = Vec::new();
    for (n, is) in world.agents.iter().enumerate() {
        let slug = format!("random-{n}");
        house
            .owner(Request::AgentAdd {
                slug: slug.clone(),
                name: None,
                space: is.space.map(|space| SPACES[space].to_owned()),
                model: None,
                grants: Some(is.grants.iter().map(|n| GRANTS[*n].to_owned()).collect()),
                ceiling: Some(is.ceiling),
            })
            .await?;
        clients.push(house.client_with(Some(house.new_token(&slug, None, None).await?.token)));
        if is.disabled {
            house.owner(Request::AgentDisable { agent: slug, disabled: true }).await?;
        }
    }
    Ok(clients)
}

async fn call(
    client: &Client,
    does: Does,
    page: Named,
    consent: Option<Tier>,
    pages: &[PageIs],
) -> anyhow::Result<Answer> {
    let slug = match page {
        Named::Slug(slug) => SLUGS[slug],
        Named::Id(..) | Named::Nothing => "no-such-page",
    };
    let id = id_of(page, pages).unwrap_or_else(|| slug.to_owned());
    let (tool, arguments) = match does {
        Does::Search => ("search", json!({"query": "common OR canary* title", "limit": 50})),
        Does::Read => ("read", json!({"kind": "page", "id": id})),
        Does::Context => ("context", json!({})),
        Does::Create => {
            ("propose_change", change("create", None, Some(json!({"slug": slug, "title": "New"}))))
        }
        Does::Update => {
            ("propose_change", change("update", Some(id), Some(json!({"body": "other"}))))
        }
        Does::Delete => ("propose_change", change("delete", Some(id), None)),
    };
    match consent {
        None => client.call(tool, arguments).await,
        Some(tier) => client.call_consenting(json!(tier.as_str()), tool, arguments).await,
    }
}

fn change(action: &str, id: Option<String>, payload: Option<Value>) -> Value {
    let mut arguments = json!({"entity_type": "page", "action": action, "reason": "because"});
    if let Some(id) = id {
        arguments["id"] = id.into();
    }
    if let Some(payload) = payload {
        arguments["payload"] = payload;
    }
    arguments
}

fn worlds() -> impl Strategy<Value = World> {
    let tier = || prop::sample::select(Tier::ALL.to_vec());
    let agent = (
        prop::option::weighted(0.9, 0..SPACES.len()),
        prop::collection::vec(0..GRANTS.len(), 0..4),
        tier(),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(space, grants, ceiling, disabled)| AgentIs {
            space,
            grants,
            ceiling,
            disabled,
        });
    let does = prop::sample::select(vec![
        Does::Search,
        Does::Read,
        Does::Read,
        Does::Context,
        Does::Create,
        Does::Update,
        Does::Delete,
    ]);
    let page = prop_oneof![
        3 => (0..SLUGS.len()).prop_map(Named::Slug),
        3 => (0..SPACES.len(), 0..SLUGS.len()).prop_map(|(space, slug)| Named::Id(space, slug)),
        1 => Just(Named::Nothing),
    ];
    let era = prop::sample::select(Era::ALL.to_vec());
    let step = prop_oneof![
        9 => (0..4_usize, does, page, prop::option::weighted(0.3, tier()), era)
            .prop_map(|(agent, does, page, consent, era)| Step::Call { agent, does, page, consent, era }),
        1 => (0..SPACES.len(), 0..SLUGS.len(), 0..SPACES.len())
            .prop_filter("a move goes elsewhere", |(from, _, to)| from != to)
            .prop_map(|(from, slug, to)| Step::Move { from, slug, to }),
    ];
    (
        prop::collection::vec(agent, 4),
        prop::array::uniform3(prop::array::uniform4(prop::bool::weighted(0.7))),
        prop::collection::vec(step, 40),
    )
        .prop_map(|(agents, pages, steps)| World { agents, pages, steps })
}

#[test]
fn no_random_house_disagrees_with_the_model() -> anyhow::Result<()> {
    let given = Config::default();
    // 256 is what comes when nobody asked for more: the normal run is shorter.
    let cases = if given.cases == 256 { 64 } else { given.cases };
    let config = Config { cases, max_shrink_iters: 64, failure_persistence: None, ..given };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&worlds(), |world| {
        runtime.block_on(run(&world)).map_err(|error| TestCaseError::fail(format!("{error:#}")))
    });
    outcome.map_err(|error| anyhow::anyhow!("{error}"))
}
