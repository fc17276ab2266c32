//! What the gate remembers, against crashes and against someone with the files but without the key.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

mod crash;
mod identity;
mod matters;
mod merges;
mod model;
mod rows;
mod runs;
mod server_requests;
mod state;
mod upgrade;

use std::time::Duration;

use narthex_core::{
    Actor, Agent, AgentId, AgentKind, Approval, ApprovalId, ApprovalStatus, Arming, Binding,
    CallId, Cause, ChangeAction, Digest, Engaged, EngagedBy, EntityType, Grants, Holder, Latch,
    Mode, PageDraft, Phase, Proposal, ProposalId, ProposalStatus, Reason, RecordDraft,
    ServerStanding, Slug, Space, SpaceId, Subject, SwitchScope, Taint, Tier, Timestamp, Title,
    Transport, Usage,
};
use narthex_store::suite::Backend as _;
use narthex_store::{
    Clock as _, Commits as _, Effect, Effected, GateBooks as _, Guard, LedgerReader as _,
    StoreError, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::SqliteStore;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::backend::{SqliteBackend, record};

const BOTH: Taint = Taint { private: true, untrusted: true };
const UNTRUSTED: Taint = Taint { private: false, untrusted: true };
const VALID: Duration = Duration::from_mins(10);

/// A house with a space and two agents in it.
struct House {
    backend: SqliteBackend,
    agent: Agent,
    other: Agent,
}

impl House {
    /// With the store open.
    async fn open() -> (Self, SqliteStore) {
        let backend = SqliteBackend::blind();
        let store = backend.store().await.expect("opens");
        let space = Space {
            id: SpaceId::from_uuid(fresh_uuid()),
            slug: "home".parse().expect("a slug"),
            name: Title::parse("Home").expect("a title"),
            ceiling: None,
            created: Timestamp::from_millis(1),
        };
        let house =
            Self { agent: agent("agent", space.id), other: agent("other", space.id), backend };
        done(&store, Effect::AddSpace(space)).await;
        done(&store, Effect::AddAgent(house.agent.clone())).await;
        done(&store, Effect::AddAgent(house.other.clone())).await;
        (house, store)
    }

    /// One of everything: a latch, a switch, the mode, some calls.
    async fn furnish(&self, store: &SqliteStore) {
        commit(store, self.arming(&self.agent, UNTRUSTED)).await.expect("commits");
        done(store, Effect::EngageSwitch(self.engaged(self.scope()))).await;
        done(store, Effect::NoteMode { mode: Mode::Guarded, chosen: Some(Mode::Readonly) }).await;
        done(store, Effect::SwitchServers { on: true }).await;
        let standing =
            ServerStanding { start: Some(Digest::of(b"a")), ..ServerStanding::default() };
        let name: Slug = "web".parse().expect("a slug");
        let (agent, profiles) = (self.agent.id, vec![name.clone()]);
        let standing = Box::new(standing);
        done(store, Effect::SetServer { name, standing, texts: Vec::new() }).await;
        done(store, Effect::SetProfiles { agent, profiles }).await;
        for _ in 0..5 {
            commit(store, call(&self.agent)).await.expect("commits");
        }
    }

    /// The scope that is engaged in a furnished house.
    const fn scope(&self) -> SwitchScope {
        SwitchScope::Agent(self.other.id)
    }

    fn engaged(&self, scope: SwitchScope) -> Engaged {
        let at = self.backend.clock().now();
        Engaged { scope, by: EngagedBy::Owner, note: "stop".to_owned(), at }
    }

    fn arming(&self, agent: &Agent, taint: Taint) -> UnitOfWork {
        let now = self.backend.clock().moment();
        let cause = Cause {
            surface: "workspace".to_owned(),
            tool: "read".to_owned(),
            call: CallId::from_uuid(fresh_uuid()),
            subject: Subject::one("page", "p"),
            first: now,
            last: now,
        };
        let arms = Some(Arming { holder: holder(agent), taint, cause });
        UnitOfWork { arms, ..UnitOfWork::default() }
    }

    fn request(&self, target: &str) -> Approval {
        let now = self.backend.clock().moment();
        let binding = Binding {
            holder: holder(&self.agent),
            surface: "servers/web".to_owned(),
            tool: "post".to_owned(),
            definition: Digest::of(b"definition"),
            arguments: serde_json::json!({ "to": target }),
            tier: Tier::T2,
            mode: Mode::Guarded,
            policy: Digest::of(b"policy"),
            run: None,
        };
        Approval {
            id: ApprovalId::from_uuid(fresh_uuid()),
            digest: binding.digest(),
            binding,
            because: Reason::Tainted,
            taint: BOTH,
            target: None,
            nonce: false,
            status: ApprovalStatus::Waiting,
            requested: now,
            until: now.wall.plus_millis(600_000),
            decided: None,
            note: None,
            used_by: None,
            wrong_nonces: 0,
        }
    }

    /// Asks for an approval.
    async fn waiting(&self, store: &SqliteStore, target: &str) -> Approval {
        let approval = self.request(target);
        let asking = Effect::RequestApproval { approval: Box::new(approval.clone()), cap: 100 };
        done(store, asking).await;
        approval
    }

    /// Asks for an approval and gets it.
    async fn approved(&self, store: &SqliteStore, target: &str) -> Approval {
        let approval = self.waiting(store, target).await;
        done(store, self.decide(&approval)).await;
        approval
    }

    fn decide(&self, approval: &Approval) -> Effect {
        Effect::DecideApproval {
            id: approval.id,
            digest: approval.digest,
            approve: true,
            note: None,
            at: self.backend.clock().moment(),
        }
    }

    fn using(&self, approval: &Approval) -> UnitOfWork {
        let guard = Guard::Approved {
            id: approval.id,
            digest: approval.digest,
            call: CallId::from_uuid(fresh_uuid()),
            now: self.backend.clock().moment(),
            valid: VALID,
        };
        let records = vec![record("approved")];
        UnitOfWork { guards: vec![guard], records, ..UnitOfWork::default() }
    }

    fn proposal(&self, slug: &str) -> Proposal {
        let title = Title::parse("Page").expect("a title");
        let slug = slug.parse().expect("a slug");
        let tags = ["one".to_owned()];
        Proposal {
            id: ProposalId::from_uuid(fresh_uuid()),
            agent: self.agent.id,
            space: self.agent.space.expect("a space"),
            entity_type: EntityType::Page,
            action: ChangeAction::Create,
            page: None,
            base_revision: None,
            draft: PageDraft::new(slug, title, "body".to_owned(), tags).ok(),
            merge: None,
            server: None,
            reason: "because".to_owned(),
            taint: UNTRUSTED,
            status: ProposalStatus::Pending,
            note: None,
            created: Timestamp::from_millis(5),
            decided: None,
        }
    }

    /// T0 calls in the last ten minutes.
    async fn used(&self, store: &SqliteStore, agent: &Agent) -> u64 {
        let spent = store.spent(holder(agent)).await.expect("reads");
        let Usage { calls: [t0, ..], .. } = spent.within(self.backend.clock().now(), VALID);
        t0
    }

    async fn sql(&self, sql: &str) {
        let options =
            sqlx::sqlite::SqliteConnectOptions::new().filename(self.backend.config().database);
        let mut conn = options.connect().await.expect("connects");
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.expect("runs");
        conn.close().await.expect("closes");
    }
}

async fn latch(store: &SqliteStore, agent: &Agent) -> Latch {
    store.latch(holder(agent)).await.expect("reads")
}

/// The tools of all records from this number on.
async fn tools(store: &SqliteStore, from: u64) -> Vec<String> {
    let records = store.records(from, 100).await.expect("reads");
    records.iter().map(|stored| stored.read().expect("a record").draft.tool).collect()
}

async fn records(store: &SqliteStore) -> u64 {
    store.head().await.expect("reads").expect("a head").seq
}

async fn commit(store: &SqliteStore, unit: UnitOfWork) -> Result<Effected, StoreError> {
    store.commit(unit).await.map(|committed| committed.effected)
}

async fn done(store: &SqliteStore, effect: Effect) -> Effected {
    commit(store, UnitOfWork::effect(effect, record("owner"))).await.expect("is carried out")
}

const fn holder(agent: &Agent) -> Holder {
    Holder { agent: agent.id, space: agent.space }
}

fn call(agent: &Agent) -> UnitOfWork {
    UnitOfWork::records(vec![observed(agent)])
}

fn observed(agent: &Agent) -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    RecordDraft {
        space: agent.space,
        tier: Some(Tier::T0),
        bytes: Some(10),
        ..RecordDraft::new(Phase::Observed, call, Actor::from(agent), Transport::Http, "read")
    }
}

fn agent(slug: &str, space: SpaceId) -> Agent {
    Agent {
        id: AgentId::from_uuid(fresh_uuid()),
        slug: slug.parse().expect("a slug"),
        name: Title::parse(slug).expect("a title"),
        kind: AgentKind::External,
        model: None,
        grants: Grants::standard(),
        ceiling: Tier::T3,
        budget: None,
        tiers: narthex_core::ToolTiers::default(),
        space: Some(space),
        disabled: false,
        created: Timestamp::from_millis(1),
    }
}
