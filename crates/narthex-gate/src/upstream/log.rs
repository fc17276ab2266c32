//! What a server says to the log of whoever asks it.

use serde_json::Value;
use tokio::sync::mpsc;

/// How much a message matters, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// For whoever looks for a mistake.
    Debug,
    /// Something happened.
    Info,
    /// Something happened that is worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// Something broke.
    Critical,
    /// Somebody has to do something now.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LogLevel {
    /// All of them, the least first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The protocol's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// What a word means; none if it is no level.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

/// A message for the log.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamLog {
    /// How much it matters.
    pub level: LogLevel,
    /// Which part of the server says so.
    pub logger: Option<String>,
    /// What it says, as it came.
    pub data: Value,
}

/// Who wants to hear a server's log while it is at work on a question.
#[derive(Debug, Clone)]
pub struct LogEar {
    /// What matters less is not passed on.
    pub least: LogLevel,
    /// Where it goes. Full means dropped.
    pub to: mpsc::Sender<UpstreamLog>,
}

impl LogEar {
    /// Passes a message on, if it is wanted.
    pub fn hear(&self, log: UpstreamLog) {
        if log.level >= self.least {
            // Who is slow to listen misses some.
            let _ = self.to.try_send(log);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::mpsc;

    use super::{LogEar, LogLevel, UpstreamLog};

    #[test]
    fn what_matters_less_than_is_wanted_is_not_heard() {
        let (to, mut heard) = mpsc::channel(8);
        let ear = LogEar { least: LogLevel::Warning, to };
        for level in LogLevel::ALL {
            assert_eq!(LogLevel::parse(level.as_str()), Some(level));
            ear.hear(UpstreamLog { level, logger: None, data: json!(level.as_str()) });
        }
        let mut levels = Vec::new();
        while let Ok(log) = heard.try_recv() {
            levels.push(log.level.as_str());
        }
        assert_eq!(levels, ["warning", "error", "critical", "alert", "emergency"]);
        assert_eq!(LogLevel::parse("WARNING"), None);
        assert_eq!(LogLevel::parse("trace"), None);
    }
}
