//! The demo: two spaces of real, linked pages, one agent, and something to try at once.

use std::fs;
use std::path::Path;

use narthex_core::SpaceId;
use narthex_server::DataDir;
use narthex_server::owner::{OwnerError, Reply, Request, Trouble};
use serde_json::{Map, Value, json};

use crate::house::OpenHouse;
use crate::{Exit, Failure};

pub mod graph;
mod pages;

/// What a demo house shows.
#[derive(Debug)]
pub struct Demo {
    agent_token: String,
    owner_token: String,
    visible: SpaceId,
    hidden: SpaceId,
}

/// Refuses a folder that holds someone's real house.
pub fn check_folder(dir: &DataDir) -> Result<(), Failure> {
    if dir.has_house() && !marker(dir).exists() {
        let message = format!("{} holds a house that is not a demo", dir.root().display());
        return Err(Failure::new(Exit::Conflict, message)
            .hint("leave out --demo, or name another --data-dir"));
    }
    Ok(())
}

/// Says that a folder holds a demo, before there is anything else in it.
pub fn mark(dir: &DataDir) -> Result<(), Failure> {
    let marker = marker(dir);
    fs::write(&marker, "this house is a demo\n").map_err(|error| Failure::file(&marker, &error))
}

/// Whether a folder holds a demo.
pub fn is_one(dir: &DataDir) -> bool {
    marker(dir).exists()
}

/// Fills the house the first time, and makes a new token every time (old ones cannot be shown).
pub async fn settle(open: &OpenHouse) -> Result<Demo, Failure> {
    let visible = space(open, VISIBLE, "Harbour Observatory").await?;
    let hidden = space(open, HIDDEN, "Private").await?;
    for (slug, pages) in [(VISIBLE, pages::HARBOUR), (HIDDEN, pages::PRIVATE)] {
        fill(open, slug, pages).await?;
    }
    graph::settle(open, VISIBLE).await?;
    let agent = Request::AgentAdd {
        slug: AGENT.to_owned(),
        name: Some("Demo agent".to_owned()),
        space: Some(VISIBLE.to_owned()),
        model: None,
        grants: None,
        ceiling: None,
    };
    unless_there(ask(open, agent).await)?;
    let token = Request::TokenCreate {
        agent: AGENT.to_owned(),
        label: Some("demo".to_owned()),
        expires_in: None,
    };
    let Reply::TokenCreated(created) = ask(open, token).await? else { return Err(odd()) };
    let owner_token = open.house.desk().owner_token_in_clear();
    Ok(Demo { agent_token: created.token, owner_token, visible, hidden })
}

impl Demo {
    /// The facts for a script.
    pub fn facts(&self, url: &str) -> Map<String, Value> {
        let facts = json!({
            "graph": graph::GRAPH,
            "graph_url": graph_url(url),
            "code_url": code_url(url),
            "agent": AGENT,
            "agent_token": self.agent_token,
            "owner_token": self.owner_token,
            "space_id": self.visible,
            "other_space_id": self.hidden,
            "spaces": [
                {"id": self.visible, "slug": VISIBLE, "visible_to_agent": true},
                {"id": self.hidden, "slug": HIDDEN, "visible_to_agent": false},
            ],
        });
        facts.as_object().cloned().unwrap_or_default()
    }

    /// What a person sees.
    pub fn welcome(&self, url: &str, data_dir: &Path) -> String {
        let dir = data_dir.display();
        let token = &self.agent_token;
        let (graph, graph_url, code_url) = (graph::GRAPH, graph_url(url), code_url(url));
        let call = |url: &str, id: u32, tool: &str, arguments: &str| {
            format!(
                "  curl -s {url} -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' \\\n    \
                 -d '{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}'"
            )
        };
        let kept = call(&graph_url, 3, "kept_by", r#"{"params":{"person":"ines"}}"#);
        let search = call(url, 1, "search", r#"{"query":"lighthouse"}"#);
        let propose = call(
            url,
            2,
            "propose_change",
            r#"{"entity_type":"page","action":"update","id":"home","payload":{"title":"Harbour Observatory, open to visitors"},"reason":"visitors ask for it"}"#,
        );
        format!(
            "The door is open: {url}\n\
             A demo house in {dir}: space '{VISIBLE}' for the agent '{AGENT}', and '{HIDDEN}', which it must never see.\n\n\
             1. Look around as the agent:\n{search}\n\n\
             2. Ask for a change, and decide on it as the owner:\n{propose}\n  \
             narthex inbox list --data-dir {dir}\n  \
             narthex inbox show <id> --data-dir {dir}\n  \
             narthex inbox approve <id> --data-dir {dir}\n\n\
             3. Let Claude Code in:\n  \
             claude mcp add --transport http narthex {url} --header \"Authorization: Bearer {token}\"\n\n\
             4. Ask the graph '{graph}', which has an MCP endpoint of its own:\n{kept}\n  \
             narthex graph query {graph} unkept --data-dir {dir}\n\n\
             5. Run a program over all of it, as the agent would at {code_url}:\n  \
             narthex run --agent {AGENT} --explain --eval '{PROGRAM}' --data-dir {dir}\n\n\
             6. See what everyone did:\n  narthex ledger tail --data-dir {dir}\n\n\
             (With cargo alone, 'narthex' is 'cargo run --'.) Stop with Ctrl-C."
        )
    }
}

/// Where agents send programs.
fn code_url(url: &str) -> String {
    format!("{}/code/mcp", url.strip_suffix("/mcp").unwrap_or(url))
}

/// Where agents reach the graph.
fn graph_url(url: &str) -> String {
    let base = url.strip_suffix("/mcp").unwrap_or(url);
    format!("{base}/graphs/{}/mcp", graph::GRAPH)
}

async fn space(open: &OpenHouse, slug: &str, name: &str) -> Result<SpaceId, Failure> {
    let add = Request::SpaceAdd { slug: slug.to_owned(), name: Some(name.to_owned()) };
    unless_there(ask(open, add).await)?;
    match ask(open, Request::SpaceShow { space: slug.to_owned() }).await? {
        Reply::Space(space) => Ok(space.id),
        _ => Err(odd()),
    }
}

async fn fill(open: &OpenHouse, space: &str, pages: &[pages::Seed]) -> Result<(), Failure> {
    for seed in pages {
        let page = Request::PageAdd {
            space: space.to_owned(),
            slug: Some(seed.slug.to_owned()),
            title: seed.title.to_owned(),
            body: seed.body.to_owned(),
            tags: seed.tags.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        unless_there(ask(open, page).await)?;
    }
    Ok(())
}

async fn ask(open: &OpenHouse, request: Request) -> Result<Reply, OwnerError> {
    open.house.desk().handle(request).await
}

/// A second start finds everything there.
fn unless_there(reply: Result<Reply, OwnerError>) -> Result<(), Failure> {
    match reply {
        Ok(_) => Ok(()),
        Err(error) if error.kind == Trouble::Conflict => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn odd() -> Failure {
    Failure::new(Exit::Failed, "the house answered something else than what was asked")
}

fn marker(dir: &DataDir) -> std::path::PathBuf {
    dir.root().join("demo")
}

/// Where a demo lives that names no folder.
pub const FOLDER: &str = "narthex-demo";
const VISIBLE: &str = "harbour";
const HIDDEN: &str = "private";
/// What the welcome shows of programs.
const PROGRAM: &str = "const g = require(\"host:graph-harbour\"), w = require(\"host:workspace\"); g.kept_by({params: {person: \"ines\"}}).rows.map(({name}) => [name, w.search({query: name}).hits.length])";
const AGENT: &str = "demo-agent";
