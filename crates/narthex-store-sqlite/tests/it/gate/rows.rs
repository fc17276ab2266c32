//! Approvals, proposals and accounts, edited: not served, not used, not applied, or added up anew.

use narthex_core::{ApprovalStatus, PageId, RevisionId, SwitchScope, Timestamp};
use narthex_store::{
    ApprovalFilter, Approvals as _, Effect, GateBooks as _, Pages as _, ProposalFilter,
    Proposals as _, Soundness as _, StoreError, UnitOfWork, fresh_uuid,
};

use super::{House, commit, done, record, records, tools};

fn damaged<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    let error = result.expect_err("not served");
    let damaged = matches!(error, StoreError::Damaged(_));
    assert!(damaged, "{error:?}");
}

#[tokio::test]
async fn an_edited_approval_is_no_good_to_anyone() {
    for change in [
        "UPDATE approvals SET status = 'approved', body = replace(body, 'waiting', 'approved')
          WHERE status = 'waiting'",
        "UPDATE approvals SET status = 'approved' WHERE status = 'waiting'",
        "UPDATE approvals SET body = replace(body, 'target', 'tarpit') WHERE status = 'waiting'",
        "UPDATE approvals SET digest = zeroblob(32) WHERE status = 'waiting'",
        "UPDATE approvals SET requested = requested + 1 WHERE status = 'waiting'",
        "UPDATE approvals SET space = NULL WHERE status = 'waiting'",
        "UPDATE approvals SET mac = zeroblob(32) WHERE status = 'waiting'",
        "UPDATE approvals SET (status, body, mac, digest) =
            (SELECT status, body, mac, digest FROM approvals WHERE status = 'approved')
          WHERE status = 'waiting'",
    ] {
        let (house, store) = House::open().await;
        let good = house.approved(&store, "good").await;
        let bad = house.waiting(&store, "bad").await;
        store.close().await.expect("closes");
        house.sql(change).await;

        let store = house.backend.store().await.expect("opens");
        damaged(store.approval(bad.id).await);
        damaged(commit(&store, house.using(&bad)).await);
        let decide = UnitOfWork::effect(house.decide(&bad), record("decide"));
        damaged(commit(&store, decide).await);
        let filter = ApprovalFilter { limit: 10, ..ApprovalFilter::default() };
        let listed = store.approvals(&filter).await.expect("lists");
        assert_eq!(listed.iter().map(|found| found.id).collect::<Vec<_>>(), [good.id], "{change}");
        let found = store.damaged_rows().await.expect("reads");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found.iter().all(|line| line.contains(&bad.id.to_string())), "{found:?}");
        // The other is not touched, unless it cannot be told whether it is the newest.
        let used = commit(&store, house.using(&good)).await;
        assert_eq!(used.is_ok(), !change.contains("mac"), "{change}: {used:?}");
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn an_approval_that_was_used_cannot_be_edited_back() {
    let (house, store) = House::open().await;
    let approved = house.approved(&store, "once").await;
    commit(&store, house.using(&approved)).await.expect("commits");
    house
        .sql("UPDATE approvals SET status = 'approved', body = replace(body, '\"used\"', '\"approved\"')")
        .await;
    damaged(commit(&store, house.using(&approved)).await);
    store.close().await.expect("closes");
}

#[tokio::test]
async fn an_edited_proposal_is_neither_shown_nor_applied() {
    for change in [
        "body = 'another'",
        "title = 'Another'",
        "slug = 'another'",
        "tags = '[]'",
        "reason = ''",
        "taint_untrusted = 0",
        "note = ''",
        "created = created + 1",
        "decided = 7",
        "status = 'conflict'",
        "action = 'update'",
        "page = zeroblob(16)",
        "base_revision = 1",
        "agent = (SELECT id FROM agents WHERE slug = 'other')",
        "mac = NULL",
        "mac = zeroblob(32)",
    ] {
        let (house, store) = House::open().await;
        let (good, bad) = (house.proposal("good"), house.proposal("bad"));
        for proposal in [&good, &bad] {
            let proposal = Box::new(proposal.clone());
            done(&store, Effect::OpenProposal { proposal, cap: 9 }).await;
        }
        store.close().await.expect("closes");
        house.sql(&format!("UPDATE proposals SET {change} WHERE slug = 'bad'")).await;

        let store = house.backend.store().await.expect("opens");
        damaged(store.proposal(bad.id).await);
        let apply = |id| Effect::ApplyProposal {
            id,
            new_page: PageId::from_uuid(fresh_uuid()),
            revision: RevisionId::from_uuid(fresh_uuid()),
            at: Timestamp::from_millis(6),
        };
        let at = Timestamp::from_millis(6);
        let note = String::new();
        for effect in [apply(bad.id), Effect::RejectProposal { id: bad.id, note, at }] {
            damaged(commit(&store, UnitOfWork::effect(effect, record("decide"))).await);
        }
        let filter = ProposalFilter { limit: 10, ..ProposalFilter::default() };
        let listed = store.proposals(&filter).await.expect("lists");
        assert_eq!(listed, std::slice::from_ref(&good), "{change}");
        assert_eq!(store.damaged_rows().await.expect("reads").len(), 1, "{change}");
        done(&store, apply(good.id)).await;
        assert_eq!(store.page_count(good.space).await.expect("counts"), 1);
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn edited_accounts_are_added_up_anew() {
    for change in [
        "UPDATE budgets SET body = '[]'",
        "UPDATE budgets SET window = 1",
        "UPDATE budgets SET seq = 0",
        "UPDATE budgets SET mac = zeroblob(32)",
        "UPDATE budgets SET space = x''",
        "DELETE FROM budgets",
        "UPDATE gate_seal SET seq = seq - 1 WHERE name = 'budgets'",
        "UPDATE gate_seal SET mac = zeroblob(32) WHERE name = 'budgets'",
        "DELETE FROM gate_seal WHERE name = 'budgets'",
    ] {
        let (house, store) = House::open().await;
        house.furnish(&store).await;
        let before = records(&store).await;
        store.close().await.expect("closes");
        house.sql(change).await;
        let store = house.backend.store().await.expect("opens");
        assert_eq!(house.used(&store, &house.agent).await, 5, "{change}");
        assert_eq!(tools(&store, before + 1).await, ["house.accounts_rebuilt"], "{change}");
        let switches = store.switches().await.expect("reads");
        assert!(switches.get(&SwitchScope::Everything).is_none(), "{change}");
        store.close().await.expect("closes");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(house.used(&store, &house.agent).await, 5, "{change}");
        assert_eq!(records(&store).await, before + 1, "{change}");
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn an_older_account_put_back_is_noticed() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    store.close().await.expect("closes");
    house.sql("CREATE TABLE kept AS SELECT * FROM budgets").await;
    let store = house.backend.store().await.expect("opens");
    commit(&store, super::call(&house.agent)).await.expect("commits");
    store.close().await.expect("closes");
    house.sql("DELETE FROM budgets; INSERT INTO budgets SELECT * FROM kept").await;
    let store = house.backend.store().await.expect("opens");
    assert_eq!(house.used(&store, &house.agent).await, 6);
    store.close().await.expect("closes");
}

#[tokio::test]
async fn a_request_nobody_can_read_stands_in_nobodys_way() {
    let (house, store) = House::open().await;
    let bad = house.waiting(&store, "bad").await;
    house.sql("UPDATE approvals SET mac = zeroblob(32)").await;
    let again = house.request("bad");
    let asking = Effect::RequestApproval { approval: Box::new(again.clone()), cap: 1 };
    done(&store, asking).await;
    assert_ne!(again.id, bad.id);
    let found = store.approval(again.id).await.expect("reads").map(|found| found.status);
    assert_eq!(found, Some(ApprovalStatus::Waiting));
    store.close().await.expect("closes");
}
