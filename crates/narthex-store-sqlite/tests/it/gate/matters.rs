//! Open approvals and proposals, put back as they once were or taken away: not served, not used, not
//! applied, and noticed.

use std::sync::Arc;

use narthex_core::{
    Approval, ApprovalStatus, PageId, Proposal, ProposalStatus, RevisionId, SwitchScope, Timestamp,
};
use narthex_store::{
    ApprovalFilter, Approvals as _, Effect, Pages as _, ProposalFilter, Proposals as _, Refused,
    Soundness as _, StoreError, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::SqliteStore;

use super::identity::stopped;
use super::{House, commit, done, record, records, tools};

/// What becomes of a matter after its row was kept, and before that is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Used,
    Approved,
    Denied,
    WrongNonce,
    Void,
    Applied,
    Rejected,
    InConflict,
}

const APPROVAL: [Then; 5] =
    [Then::Used, Then::Approved, Then::Denied, Then::WrongNonce, Then::Void];
const PROPOSAL: [Then; 3] = [Then::Applied, Then::Rejected, Then::InConflict];

fn apply(id: narthex_core::ProposalId) -> Effect {
    Effect::ApplyProposal {
        id,
        new_page: PageId::from_uuid(fresh_uuid()),
        revision: RevisionId::from_uuid(fresh_uuid()),
        at: Timestamp::from_millis(6),
    }
}

fn reject(id: narthex_core::ProposalId) -> Effect {
    Effect::RejectProposal { id, note: String::new(), at: Timestamp::from_millis(6) }
}

fn conflict(id: narthex_core::ProposalId) -> Effect {
    Effect::MarkConflict { id, note: String::new(), at: Timestamp::from_millis(6) }
}

impl House {
    async fn proposed(&self, store: &SqliteStore, slug: &str) -> Proposal {
        let proposal = self.proposal(slug);
        let open = Effect::OpenProposal { proposal: Box::new(proposal.clone()), cap: 9 };
        done(store, open).await;
        proposal
    }

    async fn keep(&self, table: &str) {
        self.sql(&format!("CREATE TABLE kept AS SELECT * FROM {table}")).await;
    }

    /// Only the rows that were kept: those that came after stay as they are.
    async fn put_back(&self, table: &str) {
        self.sql(&format!("INSERT OR REPLACE INTO {table} SELECT * FROM kept")).await;
    }

    /// A request that was kept as it was, and then this happened to it.
    async fn put_back_after(&self, store: &SqliteStore, then: Then) -> Approval {
        let approval = if then == Then::Used {
            self.approved(store, "bad").await
        } else {
            self.waiting(store, "bad").await
        };
        self.keep("approvals").await;
        let id = approval.id;
        match then {
            Then::Used => drop(commit(store, self.using(&approval)).await.expect("is used")),
            Then::Approved => drop(done(store, self.decide(&approval)).await),
            Then::WrongNonce => drop(done(store, Effect::WrongNonce { id, most: 5 }).await),
            Then::Void => drop(done(store, Effect::WrongNonce { id, most: 1 }).await),
            _ => {
                let Effect::DecideApproval { id, digest, at, .. } = self.decide(&approval) else {
                    panic!("a decision");
                };
                let approve = false;
                done(store, Effect::DecideApproval { id, digest, approve, note: None, at }).await;
            }
        }
        self.put_back("approvals").await;
        approval
    }

    /// Nobody gets anything of it.
    async fn is_no_good(&self, store: &SqliteStore, bad: &Approval, told: &str) {
        damaged(&store.approval(bad.id).await, told);
        damaged(&store.approval_of(bad.binding.holder, bad.digest).await, told);
        damaged(&commit(store, self.using(bad)).await, told);
        let nonce = Effect::WrongNonce { id: bad.id, most: 9 };
        for effect in [self.decide(bad), nonce] {
            damaged(&commit(store, UnitOfWork::effect(effect, record("decide"))).await, told);
        }
        let filter = ApprovalFilter { limit: 10, ..ApprovalFilter::default() };
        let listed = store.approvals(&filter).await.expect("lists");
        assert!(listed.iter().all(|found| found.id != bad.id), "{told}: {listed:?}");
        let open = vec![ApprovalStatus::Waiting, ApprovalStatus::Approved];
        let filter = ApprovalFilter { statuses: open, limit: 10, ..ApprovalFilter::default() };
        let listed = store.approvals(&filter).await.expect("lists");
        assert!(listed.iter().all(|found| found.id != bad.id), "{told}: {listed:?}");
        names(store, &bad.id.to_string(), told).await;
    }
}

async fn names(store: &SqliteStore, id: &str, told: &str) {
    let found = store.damaged_rows().await.expect("reads");
    assert_eq!(found.len(), 1, "{told}: {found:?}");
    assert!(found.iter().all(|line| line.contains(id)), "{told}: {found:?}");
}

fn damaged<T: std::fmt::Debug>(result: &Result<T, StoreError>, told: &str) {
    assert!(matches!(result, Err(StoreError::Damaged(_))), "{told}: {result:?}");
}

#[tokio::test]
async fn an_approval_put_back_is_no_good_and_noticed() {
    for then in APPROVAL {
        let told = format!("{then:?}");
        let (house, store) = House::open().await;
        let good = house.approved(&store, "good").await;
        let bad = house.put_back_after(&store, then).await;
        house.is_no_good(&store, &bad, &told).await;
        // The same call may be asked for anew, and nothing stands in its way.
        let again = house.request("bad");
        let asking = Effect::RequestApproval { approval: Box::new(again.clone()), cap: 1 };
        done(&store, asking).await;
        let found = store.approval(again.id).await.expect("reads").map(|found| found.status);
        assert_eq!(found, Some(ApprovalStatus::Waiting), "{told}");
        let before = records(&store).await;
        store.close().await.expect("closes");
        assert!(house.backend.verify().await.is_err(), "{told}");

        // Which of them are the newest nobody can say then: none is good.
        let store = house.backend.store().await.expect("opens");
        stopped(&store, before, &told).await;
        done(&store, Effect::LiftSwitch { scope: SwitchScope::Everything }).await;
        for approval in [&bad, &good, &again] {
            let used = commit(&store, house.using(approval)).await;
            let refused = Refused::NotApproved(ApprovalStatus::Void);
            assert!(matches!(used, Err(StoreError::Refused(r)) if r == refused), "{told}");
        }
        let said = records(&store).await;
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole again");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, said, "{told}: once");
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn a_proposal_put_back_is_neither_shown_nor_applied_and_noticed() {
    for then in PROPOSAL {
        let told = format!("{then:?}");
        let (house, store) = House::open().await;
        let bad = house.proposed(&store, "bad").await;
        house.keep("proposals").await;
        let effect = match then {
            Then::Applied => apply(bad.id),
            Then::Rejected => reject(bad.id),
            _ => conflict(bad.id),
        };
        done(&store, effect).await;
        let good = house.proposed(&store, "good").await;
        house.put_back("proposals").await;

        damaged(&store.proposal(bad.id).await, &told);
        for effect in [apply(bad.id), reject(bad.id), conflict(bad.id)] {
            damaged(&commit(&store, UnitOfWork::effect(effect, record("decide"))).await, &told);
        }
        for statuses in [Vec::new(), vec![ProposalStatus::Pending]] {
            let filter = ProposalFilter { statuses, limit: 10, ..ProposalFilter::default() };
            let listed = store.proposals(&filter).await.expect("lists");
            assert_eq!(listed, std::slice::from_ref(&good), "{told}");
        }
        names(&store, &bad.id.to_string(), &told).await;
        // Nor does it take a place in the inbox.
        let more = house.proposal("more");
        done(&store, Effect::OpenProposal { proposal: Box::new(more), cap: 2 }).await;
        done(&store, apply(good.id)).await;
        let applied = if then == Then::Applied { 2 } else { 1 };
        assert_eq!(store.page_count(good.space).await.expect("counts"), applied, "{told}");
        let before = records(&store).await;
        store.close().await.expect("closes");
        assert!(house.backend.verify().await.is_err(), "{told}");

        let store = house.backend.store().await.expect("opens");
        stopped(&store, before, &told).await;
        let said = records(&store).await;
        store.close().await.expect("closes");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, said, "{told}: once");
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole again");
    }
}

#[tokio::test]
async fn an_open_matter_edited_taken_away_or_added_stops_the_house() {
    for change in [
        "DELETE FROM proposals WHERE status = 'pending'",
        "DELETE FROM approvals WHERE status = 'waiting'",
        "DELETE FROM approvals WHERE status = 'approved'",
        "UPDATE proposals SET body = 'another' WHERE status = 'pending'",
        "UPDATE proposals SET status = 'rejected' WHERE status = 'pending'",
        "UPDATE proposals SET status = 'pending' WHERE status = 'applied'",
        "UPDATE proposals SET mac = NULL WHERE status = 'pending'",
        "UPDATE proposals SET mac = zeroblob(32) WHERE status = 'pending'",
        "UPDATE approvals SET mac = zeroblob(32) WHERE status = 'waiting'",
        "UPDATE approvals SET status = 'void' WHERE status = 'approved'",
        "UPDATE approvals SET status = 'approved' WHERE status = 'used'",
        "UPDATE approvals SET body = replace(body, 'waiting', 'approved') WHERE status = 'waiting'",
        "INSERT INTO approvals SELECT randomblob(16), agent, space, digest, status, requested, mac,
                body FROM approvals WHERE status = 'approved'",
    ] {
        let (house, store) = House::open().await;
        let used = house.approved(&store, "used").await;
        commit(&store, house.using(&used)).await.expect("is used");
        house.approved(&store, "approved").await;
        house.waiting(&store, "waiting").await;
        let applied = house.proposed(&store, "applied").await;
        done(&store, apply(applied.id)).await;
        house.proposed(&store, "pending").await;
        let before = records(&store).await;
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
        house.sql(change).await;
        assert!(house.backend.verify().await.is_err(), "{change}");

        let store = house.backend.store().await.expect("opens");
        stopped(&store, before, change).await;
        let said = records(&store).await;
        store.close().await.expect("closes");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, said, "{change}: once");
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn while_the_house_is_open_what_was_taken_away_is_named() {
    let (house, store) = House::open().await;
    let (asked, proposed) =
        (house.waiting(&store, "one").await, house.proposed(&store, "one").await);
    house.sql("DELETE FROM approvals; DELETE FROM proposals").await;
    let found = store.damaged_rows().await.expect("reads");
    let expected = [
        format!("approval {} was taken away from outside", asked.id),
        format!("proposal {} was taken away from outside", proposed.id),
    ];
    assert_eq!(found, expected);
    store.close().await.expect("closes");
}

/// The limit of it: nothing follows from what is decided, and only the ledger misses it.
#[tokio::test]
async fn what_was_decided_stands_by_its_own_mac_alone() {
    let (house, store) = House::open().await;
    let used = house.approved(&store, "used").await;
    commit(&store, house.using(&used)).await.expect("is used");
    let rejected = house.proposed(&store, "rejected").await;
    done(&store, reject(rejected.id)).await;
    let said = records(&store).await;
    store.close().await.expect("closes");
    house.sql("DELETE FROM approvals; DELETE FROM proposals").await;
    let store = house.backend.store().await.expect("opens");
    assert_eq!(records(&store).await, said);
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole");
}

#[tokio::test]
async fn what_was_left_alone_is_served_after_a_start_too() {
    let (house, store) = House::open().await;
    let approved = house.approved(&store, "approved").await;
    let waiting = house.waiting(&store, "waiting").await;
    let proposed = house.proposed(&store, "one").await;
    let (old, unused) =
        (house.waiting(&store, "old").await, house.approved(&store, "unused").await);
    let said = records(&store).await;
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole");
    let store = house.backend.store().await.expect("opens");
    assert_eq!(records(&store).await, said);
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    done(&store, house.decide(&waiting)).await;
    commit(&store, house.using(&approved)).await.expect("is used");
    commit(&store, house.using(&waiting)).await.expect("is used");
    done(&store, apply(proposed.id)).await;
    // What nobody can decide on any more is void, and later forgotten.
    for days in [1, 40] {
        narthex_store::suite::Backend::clock(&house.backend).advance_millis(days * DAY);
        house.waiting(&store, &format!("after {days}")).await;
    }
    for gone in [old.id, unused.id] {
        assert_eq!(store.approval(gone).await.expect("reads"), None);
    }
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole");
    let store = house.backend.store().await.expect("opens");
    assert!(!tools(&store, said).await.contains(&"house.gate_damaged".to_owned()));
    store.close().await.expect("closes");
}

#[tokio::test]
async fn a_unit_refused_halfway_changes_nothing_of_what_is_held() {
    let (house, store) = House::open().await;
    let approved = house.approved(&store, "once").await;
    let proposed = house.proposed(&store, "one").await;
    let refused = UnitOfWork {
        // Burnt, and then the effect is refused.
        effect: Some(Effect::LiftSwitch { scope: SwitchScope::Everything }),
        ..house.using(&approved)
    };
    assert!(matches!(commit(&store, refused).await, Err(StoreError::Refused(_))));
    let twice = UnitOfWork {
        effect: Some(Effect::OpenProposal { proposal: Box::new(proposed.clone()), cap: 9 }),
        ..house.using(&approved)
    };
    assert!(commit(&store, twice).await.is_err(), "its id is taken");
    done(&store, apply(proposed.id)).await;
    commit(&store, house.using(&approved)).await.expect("is still good");
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole");
}

/// Rows are read while they are written: none may look as if it had been put back.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_reads_while_they_are_decided_sees_no_damage() {
    let (house, store) = House::open().await;
    let store = Arc::new(store);
    let mut watching = tokio::task::JoinSet::new();
    watching.spawn(watch(Arc::clone(&store)));
    for n in 0..100 {
        let approval = house.approved(&store, &format!("call {n}")).await;
        commit(&store, house.using(&approval)).await.expect("is used");
        let proposal = house.proposed(&store, &format!("page-{n}")).await;
        done(&store, apply(proposal.id)).await;
    }
    house.waiting(&store, "last").await;
    watching.join_all().await;
    store.close().await.expect("closes");
}

/// Reads until the last one is there.
async fn watch(store: Arc<SqliteStore>) {
    let filter = ApprovalFilter { limit: 100, ..ApprovalFilter::default() };
    loop {
        let listed = store.approvals(&filter).await.expect("lists");
        for one in listed.iter().take(3) {
            store.approval(one.id).await.expect("reads");
            let read = store.approval_of(one.binding.holder, one.digest).await;
            read.expect("reads").expect("is there");
        }
        let found = store.damaged_rows().await.expect("reads");
        assert!(found.is_empty(), "{found:?}");
        let last = serde_json::json!({ "to": "last" });
        if listed.iter().any(|one| one.binding.arguments == last) {
            return;
        }
    }
}

const DAY: i64 = 24 * 3_600 * 1_000;
