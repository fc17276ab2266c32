//! A house with servers of somebody else's behind it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use narthex_core::{DefinitionName, Digest, Holder, Mode, Taint, Tier};
use narthex_server::owner::{
    ApprovedNow, OfferShown, OwnerError, Reply, Request, ServerDetail, ServerReply, ServerRequest,
};
use narthex_store::{Effect, UnitOfWork};
use narthex_test::upstream::{HttpServer, Script, program};
use narthex_test::{Client, HouseOptions, TestHouse, Variables};
use serde_json::{Map, Value, json};

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// A process.
    Pipes,
    /// A URL.
    Http,
}

impl By {
    pub(crate) const ALL: [Self; 2] = [Self::Pipes, Self::Http];
}

/// A house, its servers, and an agent who has all of them.
pub(crate) struct Rig {
    pub(crate) house: TestHouse,
    pub(crate) variables: Variables,
    pub(crate) folder: tempfile::TempDir,
    file: Map<String, Value>,
    /// Kept, since dropping one ends it.
    pub(crate) http: BTreeMap<String, HttpServer>,
    tokens: BTreeMap<String, String>,
    /// The house's own folder, after a restart.
    kept: Option<tempfile::TempDir>,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with(HouseOptions { mode: Mode::Open, ..HouseOptions::default() }).await
    }

    pub(crate) async fn with(options: HouseOptions) -> Self {
        let variables = Variables::default();
        let options = HouseOptions { variables: variables.clone(), ..options };
        let house = TestHouse::with(options).await.expect("house");
        let folder = tempfile::tempdir().expect("folder");
        let file = Map::from_iter([
            ("mcpServers".to_owned(), json!({})),
            ("profiles".to_owned(), json!({"all": {"servers": []}})),
        ]);
        let (http, tokens, kept) = (BTreeMap::new(), BTreeMap::new(), None);
        let rig = Self { house, variables, folder, file, http, tokens, kept };
        rig.ask(ServerRequest::Switch { on: true }).await.expect("on");
        rig.write();
        rig
    }

    /// Closes the house, lets something happen to its file, and opens it again.
    pub(crate) async fn restart(mut self, meanwhile: impl FnOnce(&Path)) -> Self {
        let file = self.file();
        let kept = self.house.stop().await.expect("closed");
        meanwhile(&file);
        let variables = self.variables.clone();
        let options = HouseOptions { mode: Mode::Open, variables, ..HouseOptions::default() };
        let folder = file.parent().expect("a folder");
        self.house = TestHouse::open(folder, options).await.expect("house");
        self.kept = kept.or(self.kept);
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.house.dir().root().join("mcp.json")
    }

    /// Writes what servers there are.
    pub(crate) fn write(&self) {
        let text = serde_json::to_string_pretty(&self.file).expect("text");
        std::fs::write(self.file(), text).expect("mcp.json");
    }

    /// Names a server in the file, in the profile `all`, with whatever else is said of it.
    pub(crate) async fn name(&mut self, name: &str, by: By, script: &Script, more: Value) {
        let mut server = match by {
            By::Pipes => {
                let program = program().expect("hostile");
                let mut args = script.args();
                if args.iter().any(|arg| arg.len() > 8_000) {
                    let file = self.path().join(format!("{name}.json"));
                    std::fs::write(&file, script.json()).expect("script");
                    args = vec!["stdio".to_owned(), file.display().to_string()];
                }
                json!({"command": program, "args": args})
            }
            By::Http => {
                let server = HttpServer::start(script.clone()).await.expect("http");
                let url = server.url().to_owned();
                self.http.insert(name.to_owned(), server);
                json!({"url": url})
            }
        };
        let map = server.as_object_mut().expect("a server");
        map.insert("tier".to_owned(), "T0".into());
        map.extend(more.as_object().cloned().unwrap_or_default());
        self.set(name, server);
    }

    /// Puts a server into the file as it stands.
    pub(crate) fn set(&mut self, name: &str, server: Value) {
        self.file["mcpServers"][name] = server;
        let all = self.file["profiles"]["all"]["servers"].as_array_mut().expect("a list");
        if !all.contains(&name.into()) {
            all.push(name.into());
        }
        self.write();
    }

    /// Puts a profile into the file.
    pub(crate) fn profile(&mut self, name: &str, profile: Value) {
        self.file["profiles"][name] = profile;
        self.write();
    }

    /// Names a server and approves all of it that can be.
    pub(crate) async fn serve(&mut self, name: &str, by: By, script: &Script, more: Value) {
        self.name(name, by, script, more).await;
        self.approve(name).await.expect("approved");
    }

    pub(crate) async fn ask(&self, request: ServerRequest) -> Result<ServerReply, OwnerError> {
        match self.house.owner(Request::Server(request)).await? {
            Reply::Server(reply) => Ok(reply),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn info(&self, name: &str) -> Result<ServerDetail, OwnerError> {
        match self.ask(ServerRequest::Info { server: name.to_owned() }).await? {
            ServerReply::Server(detail) => Ok(*detail),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn look(&self, name: &str) -> Result<OfferShown, OwnerError> {
        match self.ask(ServerRequest::Look { server: name.to_owned() }).await? {
            ServerReply::Offer(offer) => Ok(*offer),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn approve_start(&self, name: &str) -> Result<ApprovedNow, OwnerError> {
        let detail = self.info(name).await?;
        let digest = detail.start.digest.unwrap_or_else(|| panic!("{:?}", detail.trouble));
        let request = ServerRequest::ApproveStart { server: name.to_owned(), digest };
        match self.ask(request).await? {
            ServerReply::Approved(now) => Ok(now),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn approve_only(
        &self,
        name: &str,
        definitions: Vec<(DefinitionName, Digest)>,
    ) -> Result<ApprovedNow, OwnerError> {
        let server = name.to_owned();
        match self.ask(ServerRequest::ApproveDefinitions { server, definitions }).await? {
            ServerReply::Approved(now) => Ok(now),
            other => panic!("{other:?}"),
        }
    }

    /// Both steps; everything that nothing bars, quarantined or not.
    pub(crate) async fn approve(&self, name: &str) -> Result<ApprovedNow, OwnerError> {
        self.approve_start(name).await?;
        let offer = self.look(name).await?;
        let fit = offer.definitions.into_iter().filter(|d| d.barred.is_none());
        self.approve_only(name, fit.map(|d| (d.name, d.digest)).collect()).await
    }

    /// Gives an agent profiles.
    pub(crate) async fn give(&self, agent: &str, profiles: &[&str]) -> Result<(), OwnerError> {
        let profiles = profiles.iter().map(|&profile| profile.to_owned()).collect();
        let agent = agent.to_owned();
        self.ask(ServerRequest::SetProfiles { agent, profiles }).await.map(drop)
    }

    /// A client of an agent for a server; the agent is made, with all servers, if it is not there.
    pub(crate) async fn client(&mut self, agent: &str, server: &str) -> Client {
        if !self.tokens.contains_key(agent) {
            let made = self.house.agent(agent, "a", &["read", "suggest"], Tier::T3).await;
            made.expect("an agent");
            let token = self.house.new_token(agent, Some("rig"), None).await.expect("token").token;
            self.give(agent, &["all"]).await.expect("profiles");
            self.tokens.insert(agent.to_owned(), token);
        }
        self.house.server_client_with(self.tokens.get(agent).cloned(), server)
    }

    /// A client of an agent, which was made before, for the workspace.
    pub(crate) fn workspace(&self, agent: &str) -> Client {
        self.house.client_with(self.tokens.get(agent).cloned())
    }

    /// Whose state the gate keeps for an agent.
    pub(crate) async fn holder(&self, agent: &str) -> Holder {
        let store = self.house.store();
        let found = store.agent_by_slug(&agent.parse().expect("a slug")).await.expect("the store");
        let found = found.expect("an agent");
        Holder { agent: found.id, space: found.space }
    }

    /// What an agent has taken in.
    pub(crate) async fn taint(&self, agent: &str) -> Taint {
        let holder = self.holder(agent).await;
        self.house.store().latch(holder).await.expect("a latch").taint()
    }

    /// Opens an agent's latch.
    pub(crate) async fn wash(&self, agent: &str) {
        let both = Taint { private: true, untrusted: true };
        let holder = self.holder(agent).await;
        let effect = Effect::ClearLatch { holder, taint: both, ran_out: None };
        let unit = UnitOfWork { effect: Some(effect), ..UnitOfWork::default() };
        self.house.store().commit(unit).await.expect("an open latch");
    }

    /// The actions that are in the ledger since a record.
    pub(crate) async fn actions_since(&self, seq: u64) -> Vec<String> {
        let records = self.house.records_after(seq).await.expect("records");
        records.into_iter().map(|record| record.draft.tool).collect()
    }
}

/// The text of an answer's first block.
pub(crate) fn text(result: &Value) -> String {
    result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default().to_owned()
}
