//! Thousands of random troubles over a set of scripted servers, and what came of them.
//!
//! [`script`] is a server with one tool for each [`Trouble`]. Every call carries a mark of its own, and
//! an answer must carry the same: an answer with another mark, or with what a server said out of turn,
//! is crossed. Server 0 is only ever called well, so that its times tell whether the others slow it.
//!
//! ```text
//! Chaos { seed, servers: 5, steps: 2000, at_once: 16, troubles: &Trouble::ALL }.run(Arc::new(calls)).await → Tally
//! ```
//!
//! How a call is made, and how a server is killed from outside, is the test's own ([`Calls`]):
//! [`processes`] tells which processes were started, and which of them are still there.
//!
//! To add a trouble: a variant, its name in `ALL`, its steps in [`script`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::json;
use tokio::task::{JoinError, JoinSet};

use crate::upstream::{Id, Script, Step};

/// What happens to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Nothing.
    Well,
    /// The answer takes a moment.
    Slow,
    /// No answer comes.
    Hang,
    /// The answer comes when nobody waits for it any more.
    Late,
    /// Lines that are no message come first.
    Garbage,
    /// Answers to questions that nobody asked come first.
    Stray,
    /// The answer comes twice.
    Twice,
    /// Many notifications come first.
    Flood,
    /// The answer is larger than anybody wants.
    Large,
    /// The process ends instead.
    Crash,
    /// The process ends after it has answered.
    LastWords,
    /// The process is killed from outside meanwhile.
    Kill,
    /// The process starts another that outlives it, if it can.
    Fork,
}

/// How a test makes its calls.
#[async_trait]
pub trait Calls: Send + Sync + 'static {
    /// Calls a tool of a server with `{"mark": mark}`; the text of the answer, or why there is none.
    async fn call(&self, server: usize, tool: &str, mark: &str) -> Result<String, String>;

    /// Kills whatever runs for a server.
    async fn kill(&self, server: usize);
}

/// A run: the same seed makes the same steps.
#[derive(Debug, Clone, Copy)]
pub struct Chaos {
    /// Where randomness begins.
    pub seed: u64,
    /// How many servers there are; at least two.
    pub servers: usize,
    /// How many calls are made.
    pub steps: usize,
    /// How many of them at once.
    pub at_once: usize,
    /// What may happen to one.
    pub troubles: &'static [Trouble],
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls that were answered with their own mark, and those that were not answered, by trouble.
    pub by_trouble: BTreeMap<Trouble, (usize, usize)>,
    /// Calls that broke in the test itself.
    pub broke: Vec<String>,
    /// Answers that were somebody else's.
    pub crossed: Vec<String>,
    /// Calls of server 0 that failed, and why.
    pub steady_failed: Vec<String>,
    /// How long calls of server 0 took, shortest first.
    pub steady: Vec<Duration>,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Well,
        Self::Slow,
        Self::Hang,
        Self::Late,
        Self::Garbage,
        Self::Stray,
        Self::Twice,
        Self::Flood,
        Self::Large,
        Self::Crash,
        Self::LastWords,
        Self::Kill,
        Self::Fork,
    ];

    /// All but those after which something has to be cleared away that the server alone knows of.
    pub const UNKEPT: [Self; 12] = [
        Self::Well,
        Self::Slow,
        Self::Hang,
        Self::Late,
        Self::Garbage,
        Self::Stray,
        Self::Twice,
        Self::Flood,
        Self::Large,
        Self::Crash,
        Self::LastWords,
        Self::Kill,
    ];

    /// The tool that makes it.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Slow | Self::Kill => "slow",
            Self::Hang => "hang",
            Self::Late => "late",
            Self::Garbage => "garbage",
            Self::Stray => "stray",
            Self::Twice => "twice",
            Self::Flood => "flood",
            Self::Large => "large",
            Self::Crash => "crash",
            Self::LastWords => "last_words",
            Self::Fork => "fork",
        }
    }
}

/// A server with a tool for each trouble, that writes its pid into a file whenever it starts, and those
/// of whatever it starts itself into [`forked`].
pub fn script(pids: &Path) -> Script {
    let other = || json!({"content": [{"type": "text", "text": OUT_OF_TURN}]});
    // Far from any question of its own: whatever a server says to those is its answer.
    let ids =
        [Id::Off(10_000), Id::Off(-10_000), Id::Text, Id::Fixed(json!(1)), Id::Fixed(json!(null))];
    let mut stray: Vec<_> = ids.into_iter().map(|id| Step::AnswerTo(id, other())).collect();
    stray.push(Step::Echo);
    let pid = Step::ExitBefore { file: pids.to_owned(), starts: 0, code: 0 };
    Script::new()
        .at_start([pid])
        .tool("well", [Step::Echo])
        .tool("slow", [Step::Sleep(30), Step::Echo])
        .tool("hang", [Step::Silence])
        .tool("late", [Step::AwaitCancel(5000), Step::Echo])
        .tool("garbage", [Step::Line("{oops".into()), Step::Hex("fffe00".into()), Step::Echo])
        .tool("stray", stray)
        .tool("twice", [Step::Echo, Step::Again])
        .tool("flood", [Step::notify("notifications/message", 300), Step::Echo])
        .tool("large", [Step::Large(3 << 20)])
        .tool("crash", [Step::Exit(1)])
        .tool("last_words", [Step::Echo, Step::Exit(1)])
        .tool("fork", [Step::Fork { count: 1, pids: forked(pids), detach: true }, Step::Echo])
}

/// Where the pids of what a server started itself are, beside its own.
pub fn forked(pids: &Path) -> PathBuf {
    pids.with_extension("forked")
}

/// The processes whose pids are in a file, and which of them are still there.
pub fn processes(pids: &Path) -> (Vec<u32>, Vec<u32>) {
    let text = std::fs::read_to_string(pids).unwrap_or_default();
    let started: Vec<u32> = text.lines().filter_map(|pid| pid.parse().ok()).collect();
    let lives = |pid: &&u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // What has ended and was not waited for yet does nothing any more.
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let alive = started.iter().filter(lives).copied().collect();
    (started, alive)
}

impl Chaos {
    /// Makes all calls, and counts.
    pub async fn run<C: Calls>(&self, calls: Arc<C>) -> Tally {
        let (mut random, mut tally) = (self.seed, Tally::default());
        let mut under_way = JoinSet::new();
        for step in 0..self.steps {
            let server = pick(&mut random, self.servers.max(2));
            let chosen = self.troubles.get(pick(&mut random, self.troubles.len()));
            let trouble = chosen.copied().filter(|_| server > 0).unwrap_or(Trouble::Well);
            if under_way.len() >= self.at_once.max(1)
                && let Some(came) = under_way.join_next().await
            {
                tally.joined(came);
            }
            under_way.spawn(one(Arc::clone(&calls), server, trouble, format!("mark-{step}")));
        }
        while let Some(came) = under_way.join_next().await {
            tally.joined(came);
        }
        tally.steady.sort_unstable();
        tally
    }
}

/// What came of one call.
struct Came {
    server: usize,
    trouble: Trouble,
    mark: String,
    answer: Result<String, String>,
    took: Duration,
}

async fn one<C: Calls>(calls: Arc<C>, server: usize, trouble: Trouble, mark: String) -> Came {
    let start = Instant::now();
    let call = calls.call(server, trouble.tool(), &mark);
    let answer = if trouble == Trouble::Kill {
        tokio::join!(call, calls.kill(server)).0
    } else {
        call.await
    };
    Came { server, trouble, mark, answer, took: start.elapsed() }
}

impl Tally {
    fn joined(&mut self, came: Result<Came, JoinError>) {
        match came {
            Ok(came) => self.count(came),
            Err(broke) => self.broke.push(broke.to_string()),
        }
    }

    fn count(&mut self, came: Came) {
        let Came { server, trouble, mark, answer, took } = came;
        let (answered, failed) = self.by_trouble.entry(trouble).or_default();
        match &answer {
            Ok(_) => *answered += 1,
            Err(_) => *failed += 1,
        }
        // What is too large has no mark, and nothing else that could be another's.
        let own =
            |text: &String| text.contains(&format!("\"{mark}\"")) || trouble == Trouble::Large;
        if let Ok(text) = &answer
            && (!own(text) || text.contains(OUT_OF_TURN))
        {
            self.crossed.push(format!("server {server}, {trouble:?}, {mark}: {text}"));
        }
        if server == 0 {
            self.steady.push(took);
            self.steady_failed.extend(answer.err());
        }
    }

    /// How long all but one in a hundred calls of server 0 took at most.
    pub fn steady_p99(&self) -> Duration {
        let last = self.steady.len().saturating_sub(1);
        self.steady.get(last * 99 / 100).copied().unwrap_or_default()
    }
}

/// The next of so many (splitmix64).
fn pick(random: &mut u64, of: usize) -> usize {
    *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *random;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    usize::try_from(mixed % of.max(1) as u64).unwrap_or_default()
}

const OUT_OF_TURN: &str = "said out of turn";

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;

    use super::{Calls, Chaos, OUT_OF_TURN, Trouble};

    /// Answers some calls with what another was asked, or with what was said out of turn.
    struct Liar(Mutex<String>);

    #[async_trait]
    impl Calls for Liar {
        async fn call(&self, _: usize, tool: &str, mark: &str) -> Result<String, String> {
            let before = std::mem::replace(&mut *self.0.lock().unwrap(), mark.to_owned());
            match tool {
                "twice" => Ok(format!("{{\"mark\":\"{before}\"}}")),
                "stray" => Ok(format!("{{\"mark\":\"{mark}\"}} {OUT_OF_TURN}")),
                "hang" => Err("nothing came".to_owned()),
                _ => Ok(format!("{{\"mark\":\"{mark}\"}}")),
            }
        }

        async fn kill(&self, _: usize) {}
    }

    #[tokio::test]
    async fn what_is_crossed_is_found_and_a_seed_makes_the_same_steps() {
        let troubles = &Trouble::UNKEPT;
        let chaos = Chaos { seed: 7, servers: 3, steps: 300, at_once: 1, troubles };
        let run = async || chaos.run(Arc::new(Liar(Mutex::default()))).await;
        let (first, second) = (run().await, run().await);
        assert_eq!(first.by_trouble, second.by_trouble);
        assert_eq!(first.crossed, second.crossed);
        let of = |what: &str| first.crossed.iter().filter(|line| line.contains(what)).count();
        assert!(of("Twice") > 5 && of("Stray") > 5);
        assert_eq!(of("Twice") + of("Stray"), first.crossed.len());
        assert!(first.steady_failed.is_empty() && first.steady.len() > 50);
    }
}
