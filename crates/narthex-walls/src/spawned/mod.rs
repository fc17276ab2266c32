//! The gateway's side: a process of somebody else's, started through the keeper, heard, and ended.

mod clean;
mod ending;
mod environment;
mod launch;
mod log;
mod scrub;

pub use ending::Ending;
pub use environment::Environment;
pub use launch::{Launch, LaunchError};
pub use log::{Log, LogBounds};

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::{KEEP, probe};

/// A process of somebody else's and its keeper. When it is dropped, the keeper is told to end it,
/// and does so on its own.
#[derive(Debug)]
pub struct Spawned {
    keeper: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    log: Log,
    reading: TaskTracker,
    grace: Duration,
}

impl Spawned {
    /// Starts it. An error means that nothing was; that the walls stand, and that the program is
    /// the approved one, is known only when it answers: a refusal by the keeper is an [`Ending`],
    /// with its reason in the log.
    pub fn start(launch: &Launch) -> Result<Self, LaunchError> {
        launch.check()?;
        probe().holds(&launch.walls)?;
        launch.make_scratch()?;
        let mut keeper = Command::new(&launch.keeper)
            .arg(KEEP)
            .args(launch.order()?)
            .current_dir(&launch.cwd)
            .env_clear()
            .envs(launch.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| LaunchError::Keeper { path: launch.keeper.clone(), source })?;
        let log = Log::new(launch.log, &launch.secrets());
        let reading = TaskTracker::new();
        if let Some(stderr) = keeper.stderr.take() {
            reading.spawn(log.clone().follow(stderr));
        }
        reading.close();
        let (stdin, stdout) = (keeper.stdin.take(), keeper.stdout.take());
        Ok(Self { keeper, stdin, stdout, log, reading, grace: launch.grace })
    }

    /// What the target reads. Whoever takes it drops it before [`Spawned::stop`]: an input that
    /// ends is the first and gentlest sign that it is to end.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// What the target writes. It is as long as the target likes: read it within a bound.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// What it said on standard error, cleaned and bounded.
    pub fn log(&self) -> Log {
        self.log.clone()
    }

    /// The keeper's number, while it lives.
    pub fn id(&self) -> Option<u32> {
        self.keeper.id()
    }

    /// Waits until the target and all that came of it have ended.
    pub async fn wait(&mut self) -> Ending {
        let ended = self.keeper.wait().await;
        self.reading.wait().await;
        Ending::of(ended)
    }

    /// Ends it: its input is closed, after a grace it is asked to (SIGTERM), after another it is
    /// ended with all that came of it (SIGKILL).
    pub async fn stop(&mut self) -> Ending {
        drop(self.stdin.take());
        if let Ok(ending) = timeout(self.grace, self.wait()).await {
            return ending;
        }
        self.tell_keeper();
        if let Ok(ending) = timeout(self.grace + KEEPER_NEEDS, self.wait()).await {
            return ending;
        }
        // It neither sleeps nor waits for anything of the target's for so long: it was stopped or
        // starved by something stronger than us. The target goes with it.
        let _ = self.keeper.start_kill();
        self.wait().await
    }

    /// Safe against a number that was given to another: the keeper is our child, and `id` is none
    /// once it was reaped.
    fn tell_keeper(&self) {
        let number = self.keeper.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(number) = number {
            // Gone meanwhile is as good.
            let _ = kill_process(number, Signal::TERM);
            let _ = kill_process(number, Signal::CONT);
        }
    }
}

impl Drop for Spawned {
    /// Not SIGKILL: a keeper that is killed leaves what the target started.
    fn drop(&mut self) {
        self.tell_keeper();
    }
}

/// Time for the keeper to end and reap a thousand processes on a busy machine.
const KEEPER_NEEDS: Duration = Duration::from_secs(10);
