//! The clock, behind a trait so that tests can hold it still.

use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use narthex_core::{BootId, Moment, Timestamp};
use uuid::Uuid;

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Now, by the wall clock and by the time since boot.
    fn moment(&self) -> Moment;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn moment(&self) -> Moment {
        // The clock that goes on while the machine sleeps, which `Instant` does not.
        let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let millis = up.tv_sec.saturating_mul(1_000).saturating_add(up.tv_nsec / 1_000_000);
        Moment { wall: self.now(), boot: boot_id(), up: u64::try_from(millis).unwrap_or(0) }
    }
}

/// The kernel's name for this boot. Where it has none, this process is a boot of its own, so that
/// nothing measured before it is taken for lately.
fn boot_id() -> BootId {
    static BOOT: OnceLock<BootId> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let told = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let id = told.and_then(|text| Uuid::try_parse(text.trim()).ok());
        BootId::from_uuid(id.unwrap_or_else(Uuid::now_v7))
    })
}

/// A clock that moves only when told.
#[derive(Debug)]
pub struct ManualClock {
    wall: AtomicI64,
    up: AtomicU64,
    boot: AtomicU64,
}

impl ManualClock {
    /// Starts at this moment, some hours after a boot.
    pub const fn at(start: Timestamp) -> Self {
        Self {
            wall: AtomicI64::new(start.as_millis()),
            up: AtomicU64::new(36_000_000),
            boot: AtomicU64::new(1),
        }
    }

    /// Moves on.
    pub fn advance_millis(&self, millis: i64) {
        self.wall.fetch_add(millis, Ordering::SeqCst);
        self.up.fetch_add(u64::try_from(millis).unwrap_or(0), Ordering::SeqCst);
    }

    /// Someone sets the wall clock; the time since boot goes on.
    pub fn set_wall_by(&self, millis: i64) {
        self.wall.fetch_add(millis, Ordering::SeqCst);
    }

    /// The machine was started again.
    pub fn reboot(&self) {
        self.boot.fetch_add(1, Ordering::SeqCst);
        self.up.store(1_000, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall.load(Ordering::SeqCst))
    }

    fn moment(&self) -> Moment {
        let boot = Uuid::from_u128(u128::from(self.boot.load(Ordering::SeqCst)));
        Moment {
            wall: self.now(),
            boot: BootId::from_uuid(boot),
            up: self.up.load(Ordering::SeqCst),
        }
    }
}

/// A new id: time-ordered, with 74 random bits.
pub fn fresh_uuid() -> Uuid {
    Uuid::now_v7()
}
