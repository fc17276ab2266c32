//! A house with graphs: `harbour` and `quay` in space a, `lagoon` in space b.

use anyhow::{Context as _, bail};
use narthex_core::{Taint, Tier};
use narthex_graph::stored::{Declaration, McpBlock, Mode, QueryFile, Shown};
use narthex_server::owner::{
    Answer as Word, ApprovalRequest, BranchRequest, GraphChange, GraphQuery, GraphReply,
    GraphRequest, Nonce, Reply, Request, TaintRequest,
};
use narthex_test::{Answer, Client, HouseOptions, Persona, TestHouse};
use serde_json::{Value, json};

pub(crate) const SCHEMA: &str = "
node Person {
    slug: String @key
    name: String
    age: I32?
    score: I64?
    email: String? @unique
}
node Thing {
    slug: String @key
    flag: Bool?
    whole: U32?
    big: I64?
    huge: U64?
    real: F64?
    day: Date?
    moment: DateTime?
    place: Blob?
    word: enum(red, blue)?
    at: Vector(2)?
    list: [String]
}
edge Knows: Person -> Person { since: Date? }
";

/// Text that stands in `lagoon` alone.
pub(crate) const CANARY: &str = "lagoon-canary";

const PEOPLE: &str = r#"
    insert Person { slug: "ada", name: "Ada", age: 36, score: 9007199254740993 }
    insert Person { slug: "bob", name: "Bob", age: 40 }
    insert Knows { from: "ada", to: "bob", since: date("2026-01-31") }
"#;

/// What is stored for each of them. `hush` is the owner's alone.
pub(crate) const STORED: &str = r#"
query person($slug: String) @description("one person by slug") {
    match { $p: Person { slug: $slug } }
    return { $p.slug as slug, $p.name as name, $p.age as age, $p.score as score }
}
query everyone() {
    match { $p: Person }
    return { $p.slug as slug }
    order { $p.slug }
}
query named($branch: String, $snapshot: String) {
    match { $p: Person { slug: $branch }  $p.name = $snapshot }
    return { $p.slug as slug }
}
query scored($n: I64) {
    match { $p: Person  $p.score = $n }
    return { $p.slug as slug, $p.score as score }
}
query things() {
    match { $t: Thing }
    return { $t.slug as slug, $t.flag as flag, $t.whole as whole, $t.big as big,
             $t.huge as huge, $t.real as real, $t.day as day, $t.moment as moment,
             $t.place as place, $t.word as word, $t.at as at, $t.list as list }
    order { $t.slug }
}
query add($slug: String, $name: String, $score: I64?) {
    insert Person { slug: $slug, name: $name, score: $score }
}
query hush($slug: String) {
    match { $p: Person { slug: $slug } }
    return { $p.name as name }
}
"#;

/// The stored queries that agents may know of.
pub(crate) const EXPOSED: &[&str] = &["add", "everyone", "named", "person", "scored", "things"];

pub(crate) struct Harbour {
    pub(crate) house: TestHouse,
}

/// Options with what is declared for the three graphs: `quay` has the two tools for all.
pub(crate) fn options() -> HouseOptions {
    let mut options = HouseOptions::default();
    for (graph, mode) in
        [("harbour", Mode::PerQuery), ("quay", Mode::Meta), ("lagoon", Mode::PerQuery)]
    {
        let declared = declaration(STORED, mode, &["hush"]);
        options.graphs.declared.insert(graph.parse().expect("a slug"), declared);
    }
    options
}

/// The queries of a text, with some that only the owner may call.
pub(crate) fn declaration(source: &str, mode: Mode, hidden: &[&str]) -> Declaration {
    let hide = |name: &&str| ((*name).to_owned(), Shown { expose: false, tool_name: None });
    let source = source.to_owned();
    Declaration {
        files: vec![QueryFile { name: "stored.gq".to_owned(), source, only: None }],
        mcp: McpBlock { mode, queries: hidden.iter().map(hide).collect(), ..McpBlock::default() },
    }
}

/// The same with a policy of the owner's.
pub(crate) fn with_policy(text: &str) -> HouseOptions {
    let mut options = options();
    options.policies = vec![("owner.cedar".to_owned(), text.to_owned())];
    options
}

impl Harbour {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        Self::with(options()).await
    }

    /// With two branches besides `main`: `team`, the owner's, and `mine`, of agent a.
    pub(crate) async fn with(options: HouseOptions) -> anyhow::Result<Self> {
        let this = Self { house: TestHouse::with(options).await? };
        for (graph, space) in [("harbour", "a"), ("quay", "a"), ("lagoon", "b")] {
            this.found(graph, space).await?;
            this.branch(graph, "team", false).await?;
        }
        let text = format!(r#"insert Person {{ slug: "{CANARY}", name: "{CANARY}" }}"#);
        this.change("lagoon", "main", &text).await?;
        Ok(this)
    }

    /// And with a branch of agent a's own in `harbour` and `quay`.
    pub(crate) async fn with_mine(options: HouseOptions) -> anyhow::Result<Self> {
        let this = Self::with(options).await?;
        for graph in ["harbour", "quay"] {
            let agent = this.house.graph_client(Persona::AgentA, graph);
            done(&agent, "branch_create", json!({"name": "mine"})).await?;
        }
        Ok(this)
    }

    /// From now on with this policy of the owner's.
    pub(crate) fn govern(&self, text: &str) -> anyhow::Result<()> {
        let files = [("owner.cedar".to_owned(), text.to_owned())];
        let policy = narthex_policy::PolicyEngine::with_files(&files)?;
        self.house.house().gate().set_policy(policy);
        Ok(())
    }

    pub(crate) fn agent(&self, persona: Persona) -> Client {
        self.house.graph_client(persona, "harbour")
    }

    /// A new agent of space a.
    pub(crate) async fn newcomer(&self, slug: &str, ceiling: Tier) -> anyhow::Result<Client> {
        self.house.agent(slug, "a", &["read", "suggest"], ceiling).await?;
        let token = self.house.new_token(slug, None, None).await?.token;
        Ok(self.house.graph_client_with(Some(token), "harbour"))
    }

    pub(crate) async fn ask(&self, request: GraphRequest) -> anyhow::Result<GraphReply> {
        match self.house.owner(Request::Graph(request)).await? {
            Reply::Graph(reply) => Ok(reply),
            other => bail!("{other:?}"),
        }
    }

    pub(crate) async fn found(&self, graph: &str, space: &str) -> anyhow::Result<()> {
        let (graph, space) = (graph.to_owned(), space.to_owned());
        let schema = Some(SCHEMA.to_owned());
        self.ask(GraphRequest::Init { space, graph: graph.clone(), schema }).await?;
        self.change(&graph, "main", PEOPLE).await.map(drop)
    }

    /// A branch of the owner's.
    pub(crate) async fn branch(
        &self,
        graph: &str,
        name: &str,
        protected: bool,
    ) -> anyhow::Result<()> {
        let (graph, name) = (graph.to_owned(), name.to_owned());
        let request = BranchRequest::Create { graph, name, from: None, protected };
        self.ask(GraphRequest::Branch(request)).await.map(drop)
    }

    pub(crate) async fn protect(&self, name: &str, protected: bool) -> anyhow::Result<()> {
        let (graph, name) = ("harbour".to_owned(), name.to_owned());
        let request = BranchRequest::Protect { graph, name, protected };
        self.ask(GraphRequest::Branch(request)).await.map(drop)
    }

    /// The owner changes something; the commit the branch stands at then.
    pub(crate) async fn change(
        &self,
        graph: &str,
        branch: &str,
        text: &str,
    ) -> anyhow::Result<String> {
        let change = GraphChange {
            graph: graph.to_owned(),
            branch: Some(branch.to_owned()),
            ..GraphChange::default()
        };
        let query = GraphQuery { text: Some(text.to_owned()), ..GraphQuery::default() };
        match self.ask(GraphRequest::Mutate { change, query }).await? {
            GraphReply::Changed(changed) => Ok(changed.commit.context("a commit")?.to_string()),
            other => bail!("{other:?}"),
        }
    }

    /// The owner takes `email` away on a branch.
    pub(crate) async fn drop_email(&self, branch: &str) -> anyhow::Result<()> {
        let change = GraphChange {
            graph: "harbour".to_owned(),
            branch: Some(branch.to_owned()),
            ..GraphChange::default()
        };
        let schema = SCHEMA.replace("    email: String? @unique\n", "");
        self.ask(GraphRequest::Apply { change, schema, allow_data_loss: true }).await.map(drop)
    }

    /// The slugs of people as the owner sees them, with their ages.
    pub(crate) async fn people(&self, at: &str) -> anyhow::Result<String> {
        let text = "match { $p: Person } return { $p.slug, $p.age } order { $p.slug }".to_owned();
        let request = GraphRequest::Query {
            graph: "harbour".to_owned(),
            query: GraphQuery { text: Some(text), ..GraphQuery::default() },
            at: Some(at.to_owned()),
            cursor: None,
            limit: 100,
        };
        let GraphReply::Answer(answer) = self.ask(request).await? else { bail!("no answer") };
        let one = |row: &Vec<Value>| format!("{}:{}", row[0].as_str().unwrap_or("?"), row[1]);
        Ok(answer.rows.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    /// The owner says yes to what waits, typing what has to be typed.
    pub(crate) async fn approve(&self, waiting: &Answer) -> anyhow::Result<()> {
        let told = waiting.result()["_meta"]["narthex/error"]["approval"]["id"].clone();
        let approval = told.as_str().context("it waits for nothing")?.to_owned();
        let show = Request::Approval(ApprovalRequest::Show { approval: approval.clone() });
        let Reply::Approval(detail) = self.house.owner(show).await? else { bail!("no approval") };
        let nonce = detail.nonce.as_ref().map(|nonce| Nonce::typed(nonce.in_clear()));
        let digest = detail.info.digest;
        let answer = Word::Approve { nonce };
        let request = ApprovalRequest::Answer { approval, digest, answer };
        self.house.owner(Request::Approval(request)).await?;
        Ok(())
    }

    /// What an agent has taken in.
    pub(crate) async fn taint(&self, persona: Persona) -> anyhow::Result<Taint> {
        let slug = persona.slug().context("an agent")?.parse()?;
        let agent = self.house.store().agent_by_slug(&slug).await?.context("an agent")?;
        let holder = narthex_core::Holder { agent: agent.id, space: agent.space };
        Ok(self.house.store().taint(holder).await?)
    }

    pub(crate) async fn forget(&self, persona: Persona) -> anyhow::Result<()> {
        let agent = persona.slug().context("an agent")?.to_owned();
        let (private, untrusted) = (true, true);
        let clear = TaintRequest::Clear { agent, space: None, private, untrusted };
        self.house.owner(Request::Taint(clear)).await?;
        Ok(())
    }
}

/// Calls a tool that must do what it is asked.
pub(crate) async fn done(client: &Client, tool: &str, arguments: Value) -> anyhow::Result<Value> {
    let answer = client.call(tool, arguments.clone()).await?;
    anyhow::ensure!(answer.is_ok(), "{tool} {arguments}: {answer:?}");
    Ok(answer.structured())
}

/// Calls a tool that must refuse, and says why.
pub(crate) async fn code(client: &Client, tool: &str, arguments: Value) -> anyhow::Result<String> {
    let answer = client.call(tool, arguments.clone()).await?;
    answer.tool_code().with_context(|| format!("{tool} {arguments}: {answer:?}"))
}

/// A change on a branch by an agent.
pub(crate) fn insert(slug: &str, branch: &str) -> Value {
    let query = format!(r#"insert Person {{ slug: "{slug}", name: "{slug}" }}"#);
    json!({"query": query, "branch": branch})
}

/// A query for everyone's slugs.
pub(crate) fn slugs(place: &Value) -> Value {
    let mut arguments = json!({
        "query": "match { $p: Person } return { $p.slug as slug } order { $p.slug }",
    });
    for (name, value) in place.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    arguments
}

/// The slugs of an answer.
pub(crate) fn slugs_of(answer: &Value) -> Vec<String> {
    let rows = answer["rows"].as_array().cloned().unwrap_or_default();
    rows.iter().filter_map(|row| row["slug"].as_str().map(str::to_owned)).collect()
}
