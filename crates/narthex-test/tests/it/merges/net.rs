//! A graph in a house, an agent's branch of it, and short ways to change and to propose.

use std::sync::Arc;

use anyhow::Context as _;
use narthex_core::{
    Actor, Agent, CallId, ChangeAction, CommitId, EntityType, GraphId, MergeRequest, Phase,
    Proposal, ProposalId, ProposalStatus, RecordDraft, Slug, Taint, Timestamp, Transport,
};
use narthex_graph::engine::{Maker, Mutation, NewBranch, Prepared, SchemaChange};
use narthex_graph::exec::Limits;
use narthex_graph_surface::GraphHall;
use narthex_store::{
    At, Commit, Effect, GraphInfo, Refused, Store, StoreError, UnitOfWork, fresh_uuid,
};
use narthex_test::TestHouse;
use serde_json::Map;

pub(crate) const BRANCH: &str = "agents/scout/x";

const SCHEMA: &str = "
node Person {
    slug: String @key
    name: String
    age: I32?
}
edge Knows: Person -> Person
";

const PEOPLE: &str = r#"
    insert Person { slug: "ada", name: "Ada", age: 36 }
    insert Person { slug: "bob", name: "Bob", age: 40 }
    insert Knows { from: "ada", to: "bob" }
"#;

/// What the agent does on its branch.
const WORK: &str = r#"
    insert Person { slug: "cyd", name: "Cyd" }
    update Person set { age: 41 } where slug = "bob"
    delete Knows where from = "ada" and to = "bob"
"#;

pub(crate) struct Net {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) hall: Arc<GraphHall>,
    pub(crate) graph: GraphInfo,
    pub(crate) agent: Agent,
}

impl Net {
    /// The graph `harbour` of a space, with a branch that an agent worked on.
    pub(crate) async fn found(house: &TestHouse, space: &str, agent: &str) -> anyhow::Result<Self> {
        let (store, hall) = (house.store(), Arc::clone(house.house().graphs()));
        let space = store.space_by_slug(&space.parse()?).await?.context("a space")?.id;
        let slug: Slug = "harbour".parse()?;
        let id = GraphId::from_uuid(fresh_uuid());
        let founded = hall.engine().found(slug, space, id, [3; 16], &owner());
        commit(store.as_ref(), founded).await?;
        let net = Self::of(house, agent).await?;
        net.schema("main", SCHEMA).await?;
        net.change("main", PEOPLE).await?;
        net.fork(BRANCH).await?;
        net.change(BRANCH, WORK).await?;
        Ok(net)
    }

    /// The same, where it is there already.
    pub(crate) async fn of(house: &TestHouse, agent: &str) -> anyhow::Result<Self> {
        let (store, hall) = (house.store(), Arc::clone(house.house().graphs()));
        let graph = store.graph(&"harbour".parse()?).await?.context("the graph")?;
        let agent = store.agent_by_slug(&agent.parse()?).await?.context("the agent")?;
        Ok(Self { store, hall, graph, agent })
    }

    pub(crate) async fn schema(&self, on: &str, source: &str) -> anyhow::Result<()> {
        let (branch, limits) = (on.parse()?, Limits::default());
        let ask = SchemaChange {
            source,
            branch: &branch,
            expected: None,
            allow_data_loss: true,
            message: "",
            limits: &limits,
        };
        let prepared = self.hall.engine().apply_schema(&self.graph, &ask, &owner()).await?;
        commit(self.store.as_ref(), prepared).await
    }

    /// A change by the owner on `main`, by the agent elsewhere.
    pub(crate) async fn change(&self, on: &str, source: &str) -> anyhow::Result<()> {
        let maker = if on == "main" { owner() } else { self.maker(Taint::CLEAN) };
        self.change_as(on, source, &maker).await
    }

    pub(crate) async fn change_as(
        &self,
        on: &str,
        source: &str,
        maker: &Maker,
    ) -> anyhow::Result<()> {
        let (branch, params, limits) = (on.parse()?, Map::new(), Limits::default());
        let ask = Mutation {
            source,
            name: None,
            params: &params,
            branch: &branch,
            expected: None,
            message: "",
            limits: &limits,
        };
        let prepared = self.hall.engine().mutate(&self.graph, &ask, maker).await?;
        commit(self.store.as_ref(), prepared).await
    }

    pub(crate) fn maker(&self, taint: Taint) -> Maker {
        Maker { actor: Actor::from(&self.agent), agent: Some(self.agent.id), taint }
    }

    async fn fork(&self, name: &str) -> anyhow::Result<()> {
        let from = At::Branch("main".parse()?);
        let new = NewBranch { name: name.parse()?, from, protected: false };
        let maker = self.maker(Taint::CLEAN);
        let prepared = self.hall.engine().create_branch(&self.graph, &new, &maker).await?;
        commit(self.store.as_ref(), prepared).await
    }

    /// What the agent would ask for now.
    pub(crate) async fn asking(&self) -> anyhow::Result<Proposal> {
        let (from, into) = (self.head(BRANCH).await?, self.head("main").await?);
        Ok(Proposal {
            id: ProposalId::from_uuid(fresh_uuid()),
            agent: self.agent.id,
            space: self.agent.space.context("a space")?,
            entity_type: EntityType::Graph,
            action: ChangeAction::Merge,
            page: None,
            base_revision: None,
            draft: None,
            server: None,
            merge: Some(MergeRequest {
                graph: self.graph.id,
                from: BRANCH.parse()?,
                from_commit: from.id,
                into: "main".parse()?,
                into_commit: into.id,
                allow_data_loss: false,
            }),
            reason: "three rows \u{1b}[2J".to_owned(),
            taint: Taint::CLEAN,
            status: ProposalStatus::Pending,
            note: None,
            created: Timestamp::from_millis(1_000),
            decided: None,
        })
    }

    pub(crate) async fn open(&self, proposal: Proposal) -> Result<String, StoreError> {
        let id = proposal.id.to_string();
        let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap: 9 };
        self.store.commit(UnitOfWork::effect(effect, record())).await.map(|_| id)
    }

    /// The agent asks for the merge of its branch.
    pub(crate) async fn ask(&self) -> anyhow::Result<String> {
        Ok(self.open(self.asking().await?).await?)
    }

    pub(crate) async fn head(&self, branch: &str) -> anyhow::Result<Commit> {
        Ok(self.hall.engine().commit_at(&self.graph, &At::Branch(branch.parse()?)).await?)
    }

    /// Keys and ages on a branch.
    pub(crate) async fn people(&self, branch: &str) -> anyhow::Result<String> {
        let source = "match { $p: Person } return { $p.slug as s, $p.age as a } order { $p.slug }";
        let (params, limits) = (Map::new(), Limits::default());
        let ask = narthex_graph::engine::Ask {
            source,
            name: None,
            params: &params,
            at: At::Branch(branch.parse()?),
            page: narthex_graph::exec::Page::default(),
            limits: &limits,
        };
        let (answer, _) = self.hall.engine().query(&self.graph, &ask).await?;
        let rows = answer.to_json();
        let one = |row: &serde_json::Value| format!("{}:{}", row["s"].as_str().unwrap(), row["a"]);
        Ok(rows.as_array().context("rows")?.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    /// Whether a commit was brought into `main`.
    pub(crate) async fn has_merged(&self, commit: CommitId) -> anyhow::Result<bool> {
        let log = self.hall.engine().log(&self.graph, &"main".parse()?, None, 100).await?;
        Ok(log.iter().any(|one| one.parents.get(1) == Some(&commit)))
    }
}

pub(crate) const fn owner() -> Maker {
    Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN }
}

pub(crate) fn record() -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    RecordDraft::new(Phase::Owner, call, Actor::Owner, Transport::Local, "graph.test")
}

async fn commit(store: &dyn Store, prepared: Prepared) -> anyhow::Result<()> {
    let Prepared { write, hold, .. } = prepared;
    if let Some(write) = write {
        let effect = Effect::Graph(Box::new(write));
        store.commit(UnitOfWork::effect(effect, record())).await?;
    }
    drop(hold);
    Ok(())
}

pub(crate) fn refusal(error: StoreError) -> Refused {
    match error {
        StoreError::Refused(refused) => refused,
        other => panic!("{other:?}"),
    }
}
