//! A process of our own binary, with rlimits, landlock and a list of system calls around it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use narthex_walls::{Offer, Preset, WallError, Walls, probe};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{Gone, Layer, LayerFault, Worker};
use crate::wire::{FromWorker, HEADER, MOST};
use crate::worker::{WORK, WorkerOrder};

/// Locked processes.
#[derive(Debug, Clone)]
pub struct ProcessLayer {
    /// Our own binary.
    pub program: PathBuf,
    /// What each worker is told.
    pub order: WorkerOrder,
}

/// Which walls this machine has for workers.
#[derive(Debug)]
pub struct Standing {
    /// What it offers.
    pub offer: Offer,
    /// What is missing, if anything is.
    pub missing: Option<WallError>,
}

impl ProcessLayer {
    /// Looks at what this machine has, and starts nothing.
    pub fn standing() -> Standing {
        let offer = probe();
        Standing { offer, missing: offer.holds(&Walls::preset(Preset::Strict)).err() }
    }

    fn spawn(&self) -> Result<Process, LayerFault> {
        let mut child = Command::new(&self.program)
            .arg(WORK)
            .args(self.order.words())
            .env_clear()
            // So that no file is looked for to know what time it is.
            .env("TZ", "UTC0")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| LayerFault::NotStarted(error.to_string()))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(LayerFault::NotStarted("it has no pipe".to_owned()));
        };
        Ok(Process { child, to, from, buffer: Vec::with_capacity(PAGE) })
    }
}

#[async_trait]
impl Layer for ProcessLayer {
    fn name(&self) -> &'static str {
        if self.order.without_walls { "process without walls" } else { "locked process" }
    }

    async fn start(&self) -> Result<Box<dyn Worker>, LayerFault> {
        let mut process = self.spawn()?;
        let first = tokio::time::timeout(PATIENCE, process.receive()).await;
        let first = first.map_err(|_| LayerFault::NotStarted("it said nothing".to_owned()))??;
        match serde_json::from_slice(&first) {
            Ok(FromWorker::Ready) => Ok(Box::new(process)),
            Ok(FromWorker::NotLocked { why }) => Err(LayerFault::NotShutIn(why)),
            _ => Err(LayerFault::Nonsense("its first word is none")),
        }
    }
}

#[derive(Debug)]
struct Process {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    /// What was read of frames that are not taken yet.
    buffer: Vec<u8>,
}

impl Process {
    /// A whole frame, if there is one.
    fn taken(&mut self) -> Result<Option<Vec<u8>>, LayerFault> {
        let Some(header) = self.buffer.first_chunk::<HEADER>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
        if length > MOST {
            return Err(LayerFault::Nonsense("a frame is too long"));
        }
        if self.buffer.len() < HEADER + length {
            return Ok(None);
        }
        let rest = self.buffer.split_off(HEADER + length);
        let mut frame = std::mem::replace(&mut self.buffer, rest);
        frame.drain(..HEADER);
        Ok(Some(frame))
    }
}

#[async_trait]
impl Worker for Process {
    async fn send(&mut self, frame: &[u8]) -> Result<(), LayerFault> {
        self.to.write_all(frame).await.map_err(|_| LayerFault::Gone)
    }

    async fn receive(&mut self) -> Result<Vec<u8>, LayerFault> {
        loop {
            if let Some(frame) = self.taken()? {
                return Ok(frame);
            }
            self.buffer.reserve(PAGE);
            match self.from.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return Err(LayerFault::Gone),
                Ok(_) => {}
            }
        }
    }

    async fn end(mut self: Box<Self>) -> Gone {
        use std::os::unix::process::ExitStatusExt as _;
        // One that is done goes by itself; one that is not is not waited for.
        let gone = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
        let Ok(status) = gone else {
            let _ = self.child.start_kill();
            let _ = self.child.wait().await;
            return Gone::Ended;
        };
        let status = status.ok();
        status
            .and_then(|status| status.signal())
            .map_or(Gone::Ended, |signal| Gone::Killed { signal })
    }
}

/// How long a worker may take to be ready.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one that has closed its pipe may take to be gone.
const LAST_WORDS: Duration = Duration::from_millis(20);
const PAGE: usize = 16 * 1024;
