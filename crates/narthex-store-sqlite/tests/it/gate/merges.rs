//! Proposed merges against someone with the files but without the key.

use narthex_core::{
    Actor, ChangeAction, CommitId, Digest, EntityType, GraphId, MergeRequest, Proposal, Taint,
    Timestamp,
};
use narthex_store::{
    Commit, CommitKind, Effect, GraphInfo, GraphWrite, Graphs as _, LineNo, NewLine,
    Proposals as _, Soundness as _, StoreError, fresh_uuid,
};
use narthex_store_sqlite::SqliteStore;

use super::{House, commit, done, record, records, tools};

impl House {
    /// A merge that waits, in a graph of its own.
    async fn merge(&self, store: &SqliteStore) -> Proposal {
        let (slug, space) = ("net".parse().expect("a slug"), self.agent.space.expect("a space"));
        let id = GraphId::from_uuid(fresh_uuid());
        let at = Timestamp::from_millis(5);
        let graph = GraphInfo { id, slug, space, salt: [1; 16], created: at };
        let first = Commit {
            id: CommitId::of(Digest::of(b"first")),
            line: LineNo(0),
            seq: 1,
            parents: Vec::new(),
            seen: [(LineNo(0), 1)].into(),
            schema: Digest::of(b"schema"),
            kind: CommitKind::Init,
            actor: Actor::Owner,
            taint: Taint::CLEAN,
            message: String::new(),
            at,
            rows: 0,
        };
        let (into_commit, schema) = (first.id, "schema".to_owned());
        done(store, graphs(GraphWrite::Found { graph, commit: first, schema })).await;
        let (from, into) = ("work".parse().expect("a name"), "main".parse().expect("a name"));
        let main = store.branch(id, &into).await.expect("reads").expect("main");
        let forked = (main.line, main.head);
        for name in ["work", "spare"] {
            let name = name.parse().expect("a name");
            let line = NewLine {
                graph: id,
                name,
                from: forked,
                owner: None,
                protected: false,
                created: at,
            };
            done(store, graphs(GraphWrite::Branch(line))).await;
        }
        let merge = MergeRequest {
            graph: id,
            from,
            from_commit: into_commit,
            into,
            into_commit,
            allow_data_loss: false,
        };
        let proposal = Proposal {
            entity_type: EntityType::Graph,
            action: ChangeAction::Merge,
            draft: None,
            merge: Some(merge),
            ..self.proposal("unused")
        };
        done(store, Effect::OpenProposal { proposal: Box::new(proposal.clone()), cap: 9 }).await;
        proposal
    }
}

fn graphs(write: GraphWrite) -> Effect {
    Effect::Graph(Box::new(write))
}

/// Not even the form may be another: a verifier reads the bytes.
#[tokio::test]
async fn an_edited_merge_is_neither_shown_nor_made() {
    for edit in
        ["replace(merge, '\"work\"', '\"spare\"')", "merge || ' '", "replace(merge, ',', ', ')"]
    {
        let (house, store) = House::open().await;
        let proposal = house.merge(&store).await;
        let said = records(&store).await;
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
        house.sql(&format!("UPDATE proposals SET merge = {edit}")).await;
        assert!(house.backend.verify().await.is_err(), "{edit}");
        let store = house.backend.store().await.expect("opens");
        assert!(tools(&store, said + 1).await.contains(&"house.gate_damaged".to_owned()), "{edit}");
        let read = store.proposal(proposal.id).await;
        assert!(matches!(read, Err(StoreError::Damaged(_))), "{edit}: {read:?}");
        let made =
            Effect::ApplyMerge { id: proposal.id, write: None, at: Timestamp::from_millis(6) };
        let made = commit(&store, narthex_store::UnitOfWork::effect(made, record("made"))).await;
        assert!(matches!(made, Err(StoreError::Damaged(_))), "{edit}: {made:?}");
        store.close().await.expect("closes");
    }
}

/// It could be made once more: so it is under the seal while it is in conflict, too.
#[tokio::test]
async fn a_merge_in_conflict_put_back_after_it_was_rejected_is_noticed() {
    let (house, store) = House::open().await;
    let id = house.merge(&store).await.id;
    let (note, at) = (|| "no".to_owned(), Timestamp::from_millis(6));
    done(&store, Effect::MarkConflict { id, note: note(), at }).await;
    house.sql("CREATE TABLE kept AS SELECT * FROM proposals").await;
    done(&store, Effect::RejectProposal { id, note: note(), at }).await;
    let said = records(&store).await;
    house.sql("INSERT OR REPLACE INTO proposals SELECT * FROM kept").await;
    let read = store.proposal(id).await;
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
    let made = Effect::ApplyMerge { id, write: None, at };
    let made = commit(&store, narthex_store::UnitOfWork::effect(made, record("made"))).await;
    assert!(matches!(made, Err(StoreError::Damaged(_))), "{made:?}");
    store.close().await.expect("closes");
    assert!(house.backend.verify().await.is_err());
    let store = house.backend.store().await.expect("opens");
    assert!(tools(&store, said + 1).await.contains(&"house.gate_damaged".to_owned()));
    store.close().await.expect("closes");
}

/// In conflict or made, it is whole after a start, for the verifier as well.
#[tokio::test]
async fn what_was_left_alone_is_whole() {
    let (house, store) = House::open().await;
    let id = house.merge(&store).await.id;
    let at = Timestamp::from_millis(6);
    done(&store, Effect::MarkConflict { id, note: "rows".to_owned(), at }).await;
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole in conflict");
    let store = house.backend.store().await.expect("opens");
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    // The branch has nothing of its own: there is nothing to merge.
    done(&store, Effect::ApplyMerge { id, write: None, at }).await;
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole when made");
}
