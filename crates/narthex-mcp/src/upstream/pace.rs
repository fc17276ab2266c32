//! How fast a server may say what nobody asked it.
//!
//! Reading goes on as long as what comes was asked for. Of the rest so much is read at once, and then
//! reading waits: whoever floods fills its own pipe and slows nobody but itself.

use std::time::Duration;

use tokio::time::Instant;

/// What was said unasked in this moment.
#[derive(Debug)]
pub(super) struct Pace {
    window: Instant,
    seen: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { window: Instant::now(), seen: 0 }
    }
}

impl Pace {
    /// Something came that was not asked for. Waits if it was one too many.
    pub(super) async fn unasked(&mut self) {
        if let Some(rest) = self.over(Instant::now()) {
            tokio::time::sleep(rest).await;
        }
    }

    fn over(&mut self, now: Instant) -> Option<Duration> {
        let passed = now.saturating_duration_since(self.window);
        if passed >= WINDOW {
            *self = Self { window: now, seen: 0 };
        }
        self.seen += 1;
        (self.seen > MOST_IN_WINDOW).then(|| WINDOW.saturating_sub(passed))
    }
}

const WINDOW: Duration = Duration::from_millis(100);
const MOST_IN_WINDOW: usize = 200;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{MOST_IN_WINDOW, Pace, WINDOW};

    #[test]
    fn one_too_many_waits_for_the_next_moment() {
        let mut pace = Pace::default();
        let now = Instant::now();
        for _ in 0..MOST_IN_WINDOW {
            assert_eq!(pace.over(now), None);
        }
        assert!(pace.over(now).is_some_and(|rest| rest > Duration::ZERO && rest <= WINDOW));
        assert_eq!(pace.over(now + WINDOW * 2), None);
    }
}
