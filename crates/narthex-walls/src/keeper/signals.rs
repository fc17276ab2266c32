//! Signals and deaths, as things to wait for.

use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::pipe;

use super::KeepError;

/// The process that gave the order, by something that is never reused for another.
#[derive(Debug)]
pub(super) struct Parent(OwnedFd);

impl Parent {
    pub(super) fn hold(expected: Pid) -> Result<Self, KeepError> {
        let held = pidfd_open(expected, PidfdFlags::empty()).map_err(|_| KeepError::Forsaken)?;
        // Asked after: if it is our parent still, then it was when it was held.
        if getppid() == Some(expected) { Ok(Self(held)) } else { Err(KeepError::Forsaken) }
    }
}

/// What happened.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Happened {
    /// Somebody told us to stop.
    pub(super) told: bool,
    /// Whoever gave the order is gone.
    pub(super) forsaken: bool,
}

/// What the keeper listens to.
#[derive(Debug)]
pub(super) struct Signals {
    /// Told to stop.
    stop: UnixStream,
    /// A child ended, or our parent may have.
    look: UnixStream,
    parent: Parent,
}

impl Signals {
    pub(super) fn listen(parent: Parent) -> Result<Self, KeepError> {
        // SIGHUP is what the kernel is asked to send when the parent's thread ends. A thread may
        // end without its process, so it is a reason to look, not to stop.
        let stop = on(&[SIGTERM, SIGINT, SIGQUIT]).map_err(KeepError::keeping)?;
        let look = on(&[SIGCHLD, SIGHUP]).map_err(KeepError::keeping)?;
        Ok(Self { stop, look, parent })
    }

    /// Waits until something happens or the time is up.
    pub(super) fn wait(&mut self, most: Option<Duration>) -> Result<Happened, KeepError> {
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        let mut fds = [
            PollFd::new(&self.stop, PollFlags::IN),
            PollFd::new(&self.look, PollFlags::IN),
            PollFd::from_borrowed_fd(self.parent.0.as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, most.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(KeepError::keeping(errno)),
        }
        let [stop, look, parent] = fds.map(|fd| !fd.revents().is_empty());
        if look {
            drain(&mut self.look);
        }
        if stop {
            drain(&mut self.stop);
        }
        Ok(Happened { told: stop, forsaken: parent })
    }

    /// As [`Signals::wait`], once there is nothing left to be told: only children count.
    pub(super) fn wait_for_children(&mut self, most: Duration) -> Result<(), KeepError> {
        let most = Timespec::try_from(most).map_err(KeepError::keeping)?;
        let mut fds = [PollFd::new(&self.look, PollFlags::IN)];
        match poll(&mut fds, Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(KeepError::keeping(errno)),
        }
        drain(&mut self.look);
        Ok(())
    }
}

fn on(signals: &[i32]) -> std::io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    for signal in signals {
        pipe::register(*signal, write.try_clone()?)?;
    }
    Ok(read)
}

fn drain(stream: &mut UnixStream) {
    let mut some = [0_u8; 64];
    while matches!(stream.read(&mut some), Ok(n) if n > 0) {}
}
