//! The keeper: our own binary, between us and somebody else's process.
//!
//! It stays outside of the walls, in a session of its own, takes in every orphan of the target,
//! and goes only when nothing is left. A second stage of it (`inside`) puts the walls up around
//! itself and becomes the target.

mod children;
mod inside;
mod order;
mod outside;
mod program;
mod signals;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

pub(crate) use inside::KEPT;
pub(crate) use order::Order;

use crate::WallError;

/// The word with which our binary is asked to keep; it hands what follows to [`keep`].
pub const KEEP: &str = "keep";

/// Keeps a process until it, and everything that came of it, has ended. Ends with the code of the
/// target (128 and the signal's number, if a signal ended it), or with that of a [`Refusal`].
pub fn keep(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let kept = Order::read(words).and_then(|order| {
        if order.inside { Err(inside::enter(&order)) } else { outside::keep(&order) }
    });
    match kept {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Nowhere is left to say that standard error is closed.
            let _ = writeln!(std::io::stderr(), "narthex keep: {error}");
            ExitCode::from(error.refusal().code())
        }
    }
}

/// Why the target was not started. The target can end with the same code: it then claims that it
/// was not started, which harms nobody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The order made no sense.
    Order,
    /// The walls did not stand.
    Walls,
    /// The program is not the one that was approved.
    Swapped,
    /// The program could not be executed.
    NotStarted,
    /// Whoever gave the order is gone.
    Forsaken,
}

impl Refusal {
    const ALL: [Self; 5] =
        [Self::Order, Self::Walls, Self::Swapped, Self::NotStarted, Self::Forsaken];

    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Order => 120,
            Self::Walls => 121,
            Self::Swapped => 122,
            Self::NotStarted => 123,
            Self::Forsaken => 124,
        }
    }

    pub(crate) fn of(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| i32::from(refusal.code()) == code)
    }
}

/// Why the target was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepError {
    #[error("{0}")]
    Order(String),
    #[error(transparent)]
    Walls(#[from] WallError),
    #[error(
        "{path} is not the program that was approved: its SHA-256 is {found}, approved was {expected}"
    )]
    Swapped { path: String, found: String, expected: String },
    #[error("{path} was not started: {why}")]
    NotStarted { path: String, why: String },
    #[error("whoever gave the order is gone")]
    Forsaken,
}

impl KeepError {
    fn refusal(&self) -> Refusal {
        match self {
            Self::Order(_) => Refusal::Order,
            Self::Walls(_) => Refusal::Walls,
            Self::Swapped { .. } => Refusal::Swapped,
            Self::NotStarted { .. } => Refusal::NotStarted,
            Self::Forsaken => Refusal::Forsaken,
        }
    }

    /// A call that cannot fail where the keeper can work at all.
    fn keeping(error: impl std::fmt::Display) -> Self {
        Self::Walls(WallError::refused(crate::Wall::Keeping, error))
    }
}
