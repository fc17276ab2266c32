//! Where a program is shut in. A layer starts workers; how thick its walls are is its own business.
//!
//! To add a layer (a Wasm engine, a micro-VM): implement [`Layer`] and [`Worker`], and put it into the
//! list that the suite in `tests/it` runs against.

mod process;

use std::fmt::Debug;

use async_trait::async_trait;

pub use process::{ProcessLayer, Standing};

/// Starts workers.
#[async_trait]
pub trait Layer: Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Starts a worker and waits until it is shut in.
    async fn start(&self) -> Result<Box<dyn Worker>, LayerFault>;
}

/// Something that runs one program, behind walls. Dropping it ends it, whatever it is doing.
#[async_trait]
pub trait Worker: Debug + Send {
    /// Puts a frame on its way. It goes out while [`Worker::receive`] waits, so that one that does not
    /// listen keeps nobody from hearing it, or from ending it.
    fn send(&mut self, frame: &[u8]);

    /// The next frame, without its length. Nothing is lost when this is dropped half way.
    async fn receive(&mut self) -> Result<Vec<u8>, LayerFault>;

    /// Whether it is still there.
    fn is_there(&mut self) -> bool;

    /// Ends it and waits until it is gone; how it ended, if it did so by itself.
    async fn end(self: Box<Self>) -> Gone;
}

/// How a worker went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// We ended it, or it ended as it should.
    Ended,
    /// The system ended it: a wall, a limit, or a fault of the engine's.
    Killed {
        /// By which signal.
        signal: i32,
    },
}

/// A worker could not be had, or went away.
#[derive(Debug, thiserror::Error)]
pub enum LayerFault {
    /// It did not start.
    #[error("a worker did not start: {0}")]
    NotStarted(String),
    /// A wall is missing.
    #[error("{0}")]
    NotShutIn(String),
    /// It went away in the middle.
    #[error("the worker is gone")]
    Gone,
    /// It said something no worker of ours says.
    #[error("the worker said something that cannot be: {0}")]
    Nonsense(&'static str),
}
