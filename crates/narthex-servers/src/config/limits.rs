//! What a server is held to.

use std::time::Duration;

use super::error::ConfigFault;
use super::fields::{Field, Outcome};

/// The bounds of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest a call may take; less, if its caller has less left.
    pub call: Duration,
    /// Until it has greeted us.
    pub connect: Duration,
    /// The longest result that is handed on.
    pub result_bytes: usize,
    /// The longest line, or event of a stream, that is read.
    pub line_bytes: usize,
    /// Restarts before it is left alone.
    pub restarts: u32,
    /// How long it may stand idle before it is stopped.
    pub idle: Duration,
    /// Questions under way at once.
    pub questions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            result_bytes: MIB,
            line_bytes: 16 * MIB,
            restarts: 3,
            idle: Duration::from_mins(10),
            questions: 16,
        }
    }
}

impl Limits {
    /// The lower of each.
    pub fn lower(self, other: Self) -> Self {
        Self {
            call: self.call.min(other.call),
            connect: self.connect.min(other.connect),
            result_bytes: self.result_bytes.min(other.result_bytes),
            line_bytes: self.line_bytes.min(other.line_bytes),
            restarts: self.restarts.min(other.restarts),
            idle: self.idle.min(other.idle),
            questions: self.questions.min(other.questions),
        }
    }
}

/// What of the limits someone said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitsSaid {
    call: Option<Duration>,
    connect: Option<Duration>,
    result_bytes: Option<usize>,
    line_bytes: Option<usize>,
    restarts: Option<u32>,
    idle: Option<Duration>,
    questions: Option<usize>,
}

impl LimitsSaid {
    pub(super) fn read(field: Field<'_>) -> Outcome<Self> {
        let whole = field.clone();
        let mut fields = field.fields()?;
        let mut number =
            |key, least, most| fields.take(key).map(|field| field.number(least, most)).transpose();
        let said = Self {
            call: number("callSeconds", 1, 30)?.map(Duration::from_secs),
            connect: number("connectSeconds", 1, 60)?.map(Duration::from_secs),
            result_bytes: number("resultBytes", 1024, 16 * MIB as u64)?.map(size),
            line_bytes: number("lineBytes", 64 * 1024, 64 * MIB as u64)?.map(size),
            restarts: number("restarts", 0, 10)?.and_then(|n| n.try_into().ok()),
            idle: number("idleSeconds", 10, 86_400)?.map(Duration::from_secs),
            questions: number("questions", 1, 256)?.map(size),
        };
        fields.finish()?;
        let of = said.over(Limits::default());
        if of.result_bytes > of.line_bytes {
            return whole.fault(ConfigFault::Conflict(
                "`resultBytes` is more than `lineBytes`: no line could hold such a result",
            ));
        }
        Ok(said)
    }

    /// What was said, and these where nothing was.
    pub fn over(self, base: Limits) -> Limits {
        Limits {
            call: self.call.unwrap_or(base.call),
            connect: self.connect.unwrap_or(base.connect),
            result_bytes: self.result_bytes.unwrap_or(base.result_bytes),
            line_bytes: self.line_bytes.unwrap_or(base.line_bytes),
            restarts: self.restarts.unwrap_or(base.restarts),
            idle: self.idle.unwrap_or(base.idle),
            questions: self.questions.unwrap_or(base.questions),
        }
    }
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

const MIB: usize = 1024 * 1024;
