//! A whole ledger in its files.

use std::path::PathBuf;
use std::thread;

use tokio::sync::{mpsc, oneshot};

use crate::anchor::Anchor;
use crate::database::{Chunk, Database};
use crate::fault::{Failure, Fault, Place};
use crate::head;
use crate::note::Checkpoint;
use crate::proof::{ConsistencyProof, InclusionProof};
use crate::walk::{Keys, Report, Walk};

/// Where a ledger lies and what it is held against.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The database file.
    pub database: PathBuf,
    /// The head file. None verifies a database that was handed over without it.
    pub head_file: Option<PathBuf>,
    /// The keys there are.
    pub keys: Keys,
    /// What is known of it from elsewhere.
    pub anchors: Vec<Anchor>,
}

impl Ledger {
    /// Walks the whole ledger. `progress` hears how many records were checked so far.
    pub async fn verify(&self, progress: impl FnMut(u64)) -> Result<Report, Failure> {
        self.walk(&[], progress).await.map(|(report, _, _)| report)
    }

    /// Verifies, and shows that this record is in what the last checkpoint signs. None if there is
    /// no such record, or none that a checkpoint covers yet.
    pub async fn prove(
        &self,
        seq: u64,
        progress: impl FnMut(u64),
    ) -> Result<Option<InclusionProof>, Failure> {
        let (_, walk, mut database) = self.walk(&[seq], progress).await?;
        let Some((said, note)) = walk.last_checkpoint().cloned() else { return Ok(None) };
        let path = seq.checked_sub(1).and_then(|leaf| walk.gather.inclusion(leaf, said.size));
        let (Some(path), Some(record)) = (path, database.record(seq).await?) else {
            return Ok(None);
        };
        let record = String::from_utf8(record).map_err(|_| Fault::Unreadable { seq })?;
        Ok(Some(InclusionProof::new(seq, record, &path, note)))
    }

    /// Verifies, and shows that what an earlier checkpoint signs is the beginning of what the last
    /// one does. None if the ledger has none as late, or not the records any more to show it with.
    /// An earlier one that it does not continue is a fault of the ledger.
    pub async fn prove_consistency(
        &self,
        old: &str,
        progress: impl FnMut(u64),
    ) -> Result<Option<ConsistencyProof>, Failure> {
        let key = self.keys.seal.as_ref().ok_or(Fault::NoPublicKey)?;
        let genuine = key.checkpoint(old);
        let size = genuine.map_err(|why| Failure::File(format!("the checkpoint: {why}")))?.size;
        let (report, walk, _) = self.walk(&[size], progress).await?;
        if size > report.records {
            return Err(Fault::RolledBack { size, last: report.records }.into());
        }
        let Some((last, note)) = walk.last_checkpoint().cloned() else { return Ok(None) };
        let Some(path) = walk.gather.consistency(size, last.size) else { return Ok(None) };
        let proof = ConsistencyProof::new(old.to_owned(), note, &path);
        match proof.check(key) {
            Ok(_) => Ok(Some(proof)),
            Err(_) => Err(Fault::Forked { place: Place::Anchor, seq: size }.into()),
        }
    }

    /// Verifies, and gives the last checkpoint: what it says, and the signed note.
    pub async fn checkpoint(
        &self,
        progress: impl FnMut(u64),
    ) -> Result<Option<(Checkpoint, String)>, Failure> {
        let (_, walk, _) = self.walk(&[], progress).await?;
        Ok(walk.last_checkpoint().cloned())
    }

    async fn walk(
        &self,
        wanted: &[u64],
        mut progress: impl FnMut(u64),
    ) -> Result<(Report, Walk, Database), Failure> {
        let key = self.keys.head.as_ref();
        let file = match &self.head_file {
            None => None,
            Some(path) => head::read(path, key)
                .map_err(|error| Failure::File(format!("the head file: {error}")))?,
        };
        let mut database = Database::open(&self.database).await?;
        let base = database.base().await?;
        let mut walk = Walk::start(self.keys.clone(), base.as_ref(), file, self.anchors.clone())?;
        if !wanted.is_empty() {
            walk.gather.want(wanted);
        }
        let walk = read_and_check(&mut database, walk, &mut progress).await?;
        let mut report = walk.finish(database.head().await?, self.head_file.is_some())?;
        if let Some(key) = &self.keys.head {
            report.rows = database.rows(key).await?;
        }
        Ok((report, walk, database))
    }
}

/// Reads here and checks on a thread of its own, so that neither waits for the other.
async fn read_and_check(
    database: &mut Database,
    mut walk: Walk,
    progress: &mut impl FnMut(u64),
) -> Result<Walk, Failure> {
    let (chunks, mut arriving) = mpsc::channel::<Chunk>(CHUNKS);
    let (done, checked) = oneshot::channel();
    thread::Builder::new()
        .name("ledger-verify".to_owned())
        .spawn(move || {
            let mut result = Ok(());
            while let (Ok(()), Some((rows, seals))) = (&result, arriving.blocking_recv()) {
                result = walk.advance(&rows, &seals);
            }
            // Nobody waits any more if the reading failed.
            let _ = done.send(result.map(|()| walk));
        })
        .map_err(|error| Failure::File(format!("no thread to verify on: {error}")))?;
    let read = feed(database, &chunks, progress).await;
    drop(chunks);
    // What was wrong with a record comes before what was wrong with reading on after it.
    let walk =
        checked.await.map_err(|_| Failure::File("the checking ended early".to_owned()))??;
    read.map(|()| walk)
}

async fn feed(
    database: &mut Database,
    chunks: &mpsc::Sender<Chunk>,
    progress: &mut impl FnMut(u64),
) -> Result<(), Failure> {
    let mut last = None;
    loop {
        let chunk = database.after(last).await?;
        let reached = chunk.0.last().map(|row| row.seq);
        // Closed: the checking has found something and reads no more.
        if chunks.send(chunk).await.is_err() || reached.is_none() {
            return Ok(());
        }
        last = reached;
        progress(reached.and_then(|seq| u64::try_from(seq).ok()).unwrap_or(0));
    }
}

/// Chunks that may wait to be checked.
const CHUNKS: usize = 4;
