//! Servers that agents ask for, against someone with the files but without the key.

use narthex_core::{
    DefinitionKind, DefinitionName, Digest, Proposal, ProposalId, ServerStanding, Taint, Timestamp,
};
use narthex_store::{
    Effect, GateBooks as _, Proposals as _, Soundness as _, StoreError, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::SqliteStore;

use super::{House, commit, done, record, records, tools};

impl House {
    /// Asks for a server that is approved and disabled, beside another that is, too.
    async fn server_request(&self, store: &SqliteStore) -> Proposal {
        for name in ["web", "shell"] {
            let look = DefinitionName::new(DefinitionKind::Tool, "look");
            let standing = ServerStanding {
                disabled: true,
                start: Some(Digest::of(b"start")),
                definitions: [(look, Digest::of(b"look"))].into(),
                ..ServerStanding::default()
            };
            let (name, standing) = (name.parse().expect("a slug"), Box::new(standing));
            done(store, Effect::SetServer { name, standing, texts: Vec::new() }).await;
        }
        let proposal = Proposal::for_server(
            ProposalId::from_uuid(fresh_uuid()),
            self.agent.id,
            self.agent.space.expect("a space"),
            "web".parse().expect("a slug"),
            "to look things up",
            Taint::CLEAN,
            Timestamp::from_millis(5),
        )
        .expect("a proposal");
        done(store, Effect::OpenProposal { proposal: Box::new(proposal.clone()), cap: 9 }).await;
        proposal
    }
}

const fn yes(id: ProposalId) -> Effect {
    Effect::ApplyServerRequest { id, at: Timestamp::from_millis(6) }
}

/// Nobody puts another server in the place of the one that was asked for.
#[tokio::test]
async fn an_edited_request_is_neither_shown_nor_applied() {
    for edit in [
        "server = 'shell'",
        "server = 'web '",
        "agent = (SELECT id FROM agents WHERE slug = 'other')",
        "reason = 'because'",
        "status = 'conflict'",
        // The same bytes in another place are another thing, whatever the table is told to hold.
        "merge = server, server = NULL",
        "merge = server, server = NULL, entity_type = 'graph', action = 'merge'",
    ] {
        let (house, store) = House::open().await;
        let proposal = house.server_request(&store).await;
        let said = records(&store).await;
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
        let ignored = "PRAGMA ignore_check_constraints = ON";
        house.sql(&format!("{ignored}; UPDATE proposals SET {edit}")).await;
        assert!(house.backend.verify().await.is_err(), "{edit}");
        let store = house.backend.store().await.expect("opens");
        assert!(tools(&store, said + 1).await.contains(&"house.gate_damaged".to_owned()), "{edit}");
        let read = store.proposal(proposal.id).await;
        assert!(matches!(read, Err(StoreError::Damaged(_))), "{edit}: {read:?}");
        assert_eq!(store.damaged_rows().await.expect("reads").len(), 1, "{edit}");
        let made = commit(&store, UnitOfWork::effect(yes(proposal.id), record("yes"))).await;
        assert!(matches!(made, Err(StoreError::Damaged(_))), "{edit}: {made:?}");
        let book = store.servers().await.expect("reads");
        assert!(book.standings.values().all(|standing| standing.disabled), "{edit}");
        store.close().await.expect("closes");
    }
}

/// One that was applied, put back as it waited, would enable the server once more.
#[tokio::test]
async fn a_request_put_back_after_it_was_applied_is_noticed() {
    let (house, store) = House::open().await;
    let id = house.server_request(&store).await.id;
    house.sql("CREATE TABLE kept AS SELECT * FROM proposals").await;
    done(&store, yes(id)).await;
    house.sql("INSERT OR REPLACE INTO proposals SELECT * FROM kept").await;
    let read = store.proposal(id).await;
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
    let again = commit(&store, UnitOfWork::effect(yes(id), record("yes"))).await;
    assert!(matches!(again, Err(StoreError::Damaged(_))), "{again:?}");
    store.close().await.expect("closes");
    assert!(house.backend.verify().await.is_err());
}

/// Waiting or applied, it is whole after a start, for the verifier as well.
#[tokio::test]
async fn what_was_left_alone_is_whole() {
    let (house, store) = House::open().await;
    let id = house.server_request(&store).await.id;
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole while it waits");
    let store = house.backend.store().await.expect("opens");
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    done(&store, yes(id)).await;
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole when applied");
}
