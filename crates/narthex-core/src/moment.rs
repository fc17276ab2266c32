//! A point in time by two clocks, for what must not outlive its limit by a trick with one of them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Timestamp;

/// Which run of the machine a moment belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootId(Uuid);

impl BootId {
    /// Wraps the id the system gave this boot.
    pub const fn from_uuid(id: Uuid) -> Self {
        Self(id)
    }
}

impl fmt::Debug for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BootId({})", self.0)
    }
}

/// A moment by the wall clock and by the time since boot, which nobody can set and which goes on
/// while the machine sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// By the wall clock.
    pub wall: Timestamp,
    /// In which boot.
    pub boot: BootId,
    /// Milliseconds since that boot.
    pub up: u64,
}

/// How old something is against its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Both clocks say it is within.
    Within,
    /// One of them says it is over.
    Over,
    /// They cannot be compared: another boot, or one of them jumped.
    Void,
}

impl Moment {
    /// How old what began at `since` is now. In doubt it is too old.
    pub fn age(self, since: Self, limit: Duration) -> Age {
        let Some((wall, up)) = self.apart(since) else { return Age::Void };
        if wall.abs_diff(up) > JUMP_MILLIS {
            return Age::Void;
        }
        let limit = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
        if wall > limit || up > limit { Age::Over } else { Age::Within }
    }

    /// Whether a window that began at `since` has surely run out. In doubt it has not.
    pub fn has_run_out(self, since: Self, window: Duration) -> bool {
        let window = i64::try_from(window.as_millis()).unwrap_or(i64::MAX);
        match self.apart(since) {
            Some((wall, up)) => wall.min(up) >= window,
            None => self.wall.as_millis().saturating_sub(since.wall.as_millis()) >= window,
        }
    }

    /// Milliseconds between the two by each clock, within one boot.
    fn apart(self, since: Self) -> Option<(i64, i64)> {
        if self.boot != since.boot || self.up < since.up {
            return None;
        }
        let wall = self.wall.as_millis().saturating_sub(since.wall.as_millis());
        Some((wall, i64::try_from(self.up - since.up).unwrap_or(i64::MAX)))
    }
}

/// From here on a difference between the clocks is a jump and not a drift.
const JUMP_MILLIS: u64 = 5 * 60 * 1_000;

#[cfg(test)]
mod tests {
    use super::{Age, BootId, Moment};
    use crate::Timestamp;
    use std::time::Duration;
    use uuid::Uuid;

    const MINUTE: i64 = 60_000;
    const TEN: Duration = Duration::from_mins(10);

    #[test]
    fn a_limit_holds_by_both_clocks() {
        // (wall moved, up moved, same boot) → age against ten minutes.
        let rows = [
            (0, 0, true, Age::Within),
            (10 * MINUTE, 10 * MINUTE, true, Age::Within),
            (10 * MINUTE + 1, 10 * MINUTE, true, Age::Over),
            (10 * MINUTE, 10 * MINUTE + 1, true, Age::Over),
            (10 * MINUTE - 60 * MINUTE, 10 * MINUTE, true, Age::Void),
            (-60 * MINUTE, 1_000, true, Age::Void),
            (-4 * MINUTE, 1_000, true, Age::Within),
            (-4 * MINUTE, 10 * MINUTE + 1_000, true, Age::Void),
            (6 * MINUTE, 1_000, true, Age::Void),
            (1_000, 1_000, false, Age::Void),
        ];
        for (wall, up, same, expected) in rows {
            assert_eq!(later(wall, up, same).age(start(), TEN), expected, "{wall} {up} {same}");
        }
        let before = Moment { up: 5, ..start() };
        assert_eq!(before.age(start(), TEN), Age::Void, "time since boot never goes back");
    }

    #[test]
    fn a_window_runs_out_only_when_it_surely_has() {
        let rows = [
            (10 * MINUTE, 10 * MINUTE, true, true),
            (10 * MINUTE - 1, 10 * MINUTE, true, false),
            (10 * MINUTE, 10 * MINUTE - 1, true, false),
            (60 * MINUTE, 1, true, false),
            (10 * MINUTE, 0, false, true),
            (-MINUTE, 0, false, false),
        ];
        for (wall, up, same, expected) in rows {
            assert_eq!(later(wall, up, same).has_run_out(start(), TEN), expected, "{wall} {up}");
        }
    }

    fn start() -> Moment {
        Moment {
            wall: Timestamp::from_millis(1_700_000_000_000),
            boot: BootId::from_uuid(Uuid::from_u128(1)),
            up: 50_000_000,
        }
    }

    fn later(wall: i64, up: i64, same: bool) -> Moment {
        let start = start();
        Moment {
            wall: start.wall.plus_millis(wall),
            boot: if same { start.boot } else { BootId::from_uuid(Uuid::from_u128(2)) },
            up: start.up.saturating_add_signed(up),
        }
    }
}
