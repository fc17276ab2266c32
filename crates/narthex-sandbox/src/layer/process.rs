//! A process of our own binary, with rlimits, landlock and a list of system calls around it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::{Buf as _, BytesMut};
use narthex_walls::{Offer, Preset, WallError, Walls, probe};
use rustix::buffer::spare_capacity;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

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
        let mut command = Command::new(&self.program);
        command.arg(WORK).args(self.order.words());
        Process::spawn(command)
    }
}

impl Process {
    fn spawn(mut command: Command) -> Result<Self, LayerFault> {
        let mut child = command
            .env_clear()
            // So that no file is looked for to know what time it is.
            .env("TZ", "UTC0")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // What a terminal sends to all that run in it is for us to act on: runs are drained.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(not_started)?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(LayerFault::NotStarted("it has no pipe".to_owned()));
        };
        let ours = |pipe: OwnedFd| {
            let flags = fcntl_getfl(&pipe)?;
            fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
            Ok(pipe)
        };
        let to = to.into_owned_fd().and_then(ours).map_err(not_started)?;
        let from = from.into_owned_fd().and_then(ours).map_err(not_started)?;
        let (buffer, outgoing) = (Vec::with_capacity(PAGE), BytesMut::new());
        Ok(Self { child, to, from, buffer, outgoing, told: false, deaf: false, asleep: 0 })
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
    to: OwnedFd,
    from: OwnedFd,
    /// What was read of frames that are not taken yet.
    buffer: Vec<u8>,
    /// What was not written yet.
    outgoing: BytesMut,
    /// It was told something, and may have something to say right away.
    told: bool,
    /// It listens no more.
    deaf: bool,
    /// How often still nobody waits for it awake.
    asleep: u32,
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

    /// Reads what there is: whether that is anything.
    fn read(&mut self) -> Result<bool, LayerFault> {
        self.buffer.reserve(PAGE);
        loop {
            match rustix::io::read(&self.from, spare_capacity(&mut self.buffer)) {
                Ok(1..) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Ok(0) | Err(_) => return Err(LayerFault::Gone),
            }
        }
    }

    /// Writes what goes through now.
    fn write(&mut self) {
        while !self.outgoing.is_empty() {
            match rustix::io::write(&self.to, &self.outgoing) {
                Ok(written @ 1..) => self.outgoing.advance(written),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(0) | Err(_) => {
                    // One that is done listens no more; its last words are still to be read.
                    self.deaf = true;
                    self.outgoing.clear();
                }
            }
        }
    }

    /// Whether something comes within moments: most programs make their next call right away, and being
    /// woken takes longer than that. The worker may need the very core this runs on.
    fn stay_awake(&mut self) -> Result<bool, LayerFault> {
        if let Some(less) = self.asleep.checked_sub(1) {
            self.asleep = less;
            return Ok(false);
        }
        let began = Instant::now();
        loop {
            if self.read()? {
                return Ok(true);
            }
            if began.elapsed() >= AWAKE {
                return Ok(false);
            }
            std::thread::yield_now();
            // Others have much to do: then this thread is better used otherwise, for a while.
            if began.elapsed() >= 10 * AWAKE {
                self.asleep = WHILE;
            }
        }
    }

    /// Waits until there is something to read, or room to write. Only here are the pipes among what the
    /// runtime waits for: otherwise every frame would wake a thread of it that has nothing to do with it.
    async fn wait(&self, reads: bool) -> io::Result<()> {
        let something =
            async { pipe::Receiver::from_owned_fd(self.from.try_clone()?)?.readable().await };
        let room = async { pipe::Sender::from_owned_fd(self.to.try_clone()?)?.writable().await };
        tokio::select! {
            ready = something, if reads => ready,
            ready = room, if !self.outgoing.is_empty() => ready,
            else => Ok(()),
        }
    }
}

#[async_trait]
impl Worker for Process {
    fn send(&mut self, frame: &[u8]) {
        if self.deaf {
            return;
        }
        self.outgoing.extend_from_slice(frame);
        self.told = true;
    }

    async fn receive(&mut self) -> Result<Vec<u8>, LayerFault> {
        loop {
            self.write();
            // One that asks and does not listen is not heard either, before it has listened; not even what
            // it said already.
            let hears = self.outgoing.len() <= MOST_OUTGOING;
            if hears && let Some(frame) = self.taken()? {
                return Ok(frame);
            }
            if hears && self.read()? {
                continue;
            }
            let told = std::mem::take(&mut self.told);
            if told && self.outgoing.is_empty() && self.stay_awake()? {
                continue;
            }
            match self.wait(hears).await {
                Ok(()) => {}
                // That others have opened everything there is says nothing about this one.
                Err(error) if is_out_of_files(&error) => tokio::time::sleep(A_MOMENT).await,
                Err(_) => return Err(LayerFault::Gone),
            }
        }
    }

    fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
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

fn is_out_of_files(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// How long the next call of a program is waited for awake.
const AWAKE: Duration = Duration::from_micros(40);
/// How many calls are not, after waiting took so much longer.
const WHILE: u32 = 16;
/// Before files are asked for again.
const A_MOMENT: Duration = Duration::from_millis(1);
/// How long a worker may take to be ready.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one that has closed its pipe may take to be gone.
const LAST_WORDS: Duration = Duration::from_millis(20);
const PAGE: usize = 16 * 1024;
/// Bytes that may wait to be written before nothing more is read: what a program has under way at once.
const MOST_OUTGOING: usize = 2 * MOST;

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn not_started(error: std::io::Error) -> LayerFault {
    LayerFault::NotStarted(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::process::Command;
    use tokio::time::timeout;

    use super::{MOST_OUTGOING, Process};
    use crate::layer::{LayerFault, Worker as _};

    fn says(script: &str) -> Process {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Process::spawn(command).expect("a shell")
    }

    const TWO: &str = r"printf '\002\000\000\000{}\002\000\000\000[]'; ";

    /// One that does not listen is not heard, not even what it said already: it would have us keep answers
    /// without end.
    #[tokio::test]
    async fn one_that_does_not_listen_is_not_heard() {
        let mut process = says(&format!("{TWO} exec /bin/sleep 20"));
        assert_eq!(process.receive().await.expect("a frame"), b"{}");
        process.send(&vec![0; MOST_OUTGOING + 1024 * 1024]);
        let heard = timeout(Duration::from_millis(300), process.receive()).await;
        assert!(heard.is_err(), "{heard:?}");
    }

    /// And is, once it has listened; its last words too, though nobody can answer any more.
    #[tokio::test]
    async fn what_it_said_is_heard_to_the_end() {
        let listens = format!("{TWO} /usr/bin/head -c {MOST_OUTGOING} > /dev/null");
        let mut process = says(&listens);
        assert_eq!(process.receive().await.expect("a frame"), b"{}");
        process.send(&vec![0; MOST_OUTGOING + 1024 * 1024]);
        assert_eq!(process.receive().await.expect("the other"), b"[]");
        assert!(matches!(process.receive().await, Err(LayerFault::Gone)));
    }
}
