//! Taking old records out.

use std::path::Path;

use narthex_store::chain::segment;
use narthex_store::{Commits as _, Effect, LedgerReader as _, Refused, StoreError, UnitOfWork};
use narthex_store_sqlite::SqliteStore;
use narthex_verify::{Failure, Fault, verify_segment};

use super::{batch, sql};
use crate::backend::{SqliteBackend, append, ledger_in, record};

async fn prune(store: &SqliteStore, to: u64) -> Result<(), StoreError> {
    let unit = UnitOfWork::effect(Effect::PruneLedger { to }, record("ledger.prune"));
    store.commit(unit).await.map(drop)
}

/// What `narthex ledger prune` writes.
async fn export(store: &SqliteStore, path: &Path, from: u64, to: u64) {
    let mut lines = vec![segment::MAGIC.to_owned(), segment::from(from)];
    let seals = store.seals(from, 10_000).await.expect("reads");
    lines.extend(seals.iter().filter(|seal| seal.size == from).map(segment::checkpoint));
    for record in store.records(from + 1, 100_000).await.expect("reads") {
        if record.seq <= to {
            let text = String::from_utf8(record.bytes).expect("text");
            lines.push(segment::record(&record.hash.to_string(), &text));
            let here = seals.iter().filter(|seal| seal.size == record.seq);
            lines.extend(here.map(segment::checkpoint));
        }
    }
    lines.push(String::new());
    std::fs::write(path, lines.join("\n")).expect("writes");
}

#[tokio::test]
async fn what_stays_and_what_went_verify_each_on_its_own() {
    let house = SqliteBackend::new();
    let key = ledger_in(&house.config()).keys.seal.expect("a key");
    let mut store = house.store().await.expect("opens");
    let mut base = 0;
    for (count, to) in [(600, 512), (300, 768), (900, 1_536)] {
        batch(&store, count).await;
        let file = house.dir().join(format!("{to}.segment"));
        export(&store, &file, base, to).await;
        let went = verify_segment(&file, &key, Vec::new(), |_| ()).expect("whole");
        assert_eq!((went.base, went.records), (base, to));

        let before = house.verify().await.expect("whole");
        prune(&store, to).await.expect("prunes");
        let after = house.verify().await.expect("whole");
        assert_eq!((after.base, after.records), (to, before.records + 1));
        assert_eq!(store.records(1, 3).await.expect("reads")[0].seq, to + 1);
        // Also after a restart, and with more on top.
        store.close().await.expect("closes");
        store = house.store().await.expect("opens");
        append(&store, 3).await;
        house.verify().await.expect("whole");
        base = to;
    }
    store.close().await.expect("closes");
    // What stays is still proven, record by record.
    let ledger = ledger_in(&house.config());
    for seq in [1_537, 1_600, 1_792, 1_800] {
        let proof = ledger.prove(seq, |_| ()).await.expect("whole").expect("sealed");
        assert_eq!(proof.check(&key).expect("proves").size, 1_813);
    }
    assert_eq!(ledger.prove(5, |_| ()).await.expect("whole"), None, "it was taken out");
}

#[tokio::test]
async fn only_whole_stretches_go_and_never_the_last_record_or_an_open_call() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    batch(&store, 255).await;
    for to in [0, 1, 255, 256, 257, 512] {
        let refused = prune(&store, to).await;
        let no = matches!(refused, Err(StoreError::Refused(Refused::NotPrunable(_))));
        assert!(no, "{to}: {refused:?}");
    }
    append(&store, 1).await;
    prune(&store, 256).await.expect("the last record is another one now");
    assert!(prune(&store, 256).await.is_err(), "twice");
    let mut intent = record("tool");
    intent.phase = narthex_core::Phase::Intent;
    store.commit(UnitOfWork::records(vec![intent])).await.expect("commits");
    batch(&store, 300).await;
    let refused = prune(&store, 512).await;
    assert!(matches!(refused, Err(StoreError::Refused(Refused::NotPrunable(_)))), "{refused:?}");
    store.close().await.expect("closes");
    // The next start closes the call; from then on it may go.
    let store = house.store().await.expect("opens");
    prune(&store, 512).await.expect("prunes");
    store.close().await.expect("closes");
    house.verify().await.expect("whole");
}

#[tokio::test]
async fn a_base_that_nobody_signed_is_found() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    batch(&store, 600).await;
    store.close().await.expect("closes");
    // The checkpoint there is genuine; that it stands for what is gone, the house never said.
    let change = "INSERT INTO ledger_base SELECT 1, size, note, frontier FROM ledger_checkpoints
                   WHERE size = 512;
                  DELETE FROM ledger WHERE seq <= 512;
                  DELETE FROM ledger_checkpoints WHERE size < 512";
    sql(&house.config().database, change).await;
    let found = house.verify().await;
    assert!(matches!(found, Err(Failure::Broken(Fault::Base(_)))), "{found:?}");
}

#[tokio::test]
async fn a_segment_that_was_touched_is_found() {
    let house = SqliteBackend::new();
    let key = ledger_in(&house.config()).keys.seal.expect("a key");
    let store = house.store().await.expect("opens");
    batch(&store, 600).await;
    let (first, second) = (house.dir().join("1.segment"), house.dir().join("2.segment"));
    export(&store, &first, 0, 256).await;
    export(&store, &second, 256, 512).await;
    store.close().await.expect("closes");
    for file in [first, second] {
        let whole = std::fs::read_to_string(&file).expect("reads");
        verify_segment(&file, &key, Vec::new(), |_| ()).expect("whole");
        let lines: Vec<&str> = whole.lines().collect();
        for at in (0..lines.len()).step_by(7).chain([lines.len() - 1, 2, 3]) {
            for change in 0..4 {
                let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
                match change {
                    0 => drop(lines.remove(at)),
                    1 => lines.insert(at, lines[at].clone()),
                    2 => lines.truncate(at),
                    _ => {
                        let middle = lines[at].len() / 2;
                        let mut bytes = lines[at].clone().into_bytes();
                        bytes[middle] ^= 1;
                        lines[at] = String::from_utf8(bytes).expect("text");
                    }
                }
                let text = lines.join("\n") + "\n";
                std::fs::write(&file, text).expect("writes");
                let found = verify_segment(&file, &key, Vec::new(), |_| ());
                assert!(found.is_err(), "{} line {at}, change {change}", file.display());
            }
        }
        std::fs::write(&file, &whole[..whole.len() - 1]).expect("writes");
        assert!(verify_segment(&file, &key, Vec::new(), |_| ()).is_err(), "cut in its last line");
    }
}
