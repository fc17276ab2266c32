//! What a server says to the log in the middle of a call: cleaned, bounded, marked as the server's, and
//! handed to the gate, which tells the client.

use std::sync::Arc;

use narthex_core::Slug;
use narthex_gate::upstream::{LogEar, UpstreamLog};
use narthex_gate::{RecordedIntent, Telling};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::answer::{PROVENANCE, scrub_all};
use crate::hall::{ServerHall, View, Whose};
use crate::sanitise::Scrubber;
use crate::scan;

/// A call whose client hears what the server says to the log.
pub(super) struct Hearing<'a> {
    hall: &'a ServerHall,
    server: &'a Slug,
    view: &'a View,
    whose: Whose,
    telling: &'a Telling,
    heard: mpsc::Receiver<UpstreamLog>,
    left: usize,
}

impl<'a> Hearing<'a> {
    /// None if its client does not want to, or what is said could be about somebody else's call: on a
    /// line that all agents share nothing says whose it is.
    pub(super) fn begin(
        hall: &'a ServerHall,
        server: &'a Slug,
        view: &'a View,
        intent: &'a RecordedIntent,
    ) -> Option<(LogEar, Self)> {
        let telling = intent.log().filter(|_| !view.config.stateless)?;
        let agent = intent.context().principal.agent.id;
        let least = telling.least().or_else(|| hall.log_level(&view.config.name, agent))?;
        let (to, heard) = mpsc::channel(WAITING);
        let whose = Whose::Agent(agent);
        let hearing = Self { hall, server, view, whose, telling, heard, left: MOST };
        Some((LogEar { least, to }, hearing))
    }

    /// What comes of a call, and on the way what is said in it.
    pub(super) async fn during<T>(mut self, calling: impl Future<Output = T>) -> T {
        let mut calling = std::pin::pin!(calling);
        loop {
            tokio::select! {
                biased;
                done = &mut calling => {
                    // What was said before the answer is told before it.
                    while let Ok(log) = self.heard.try_recv() {
                        self.tell(log).await;
                    }
                    return done;
                }
                Some(log) = self.heard.recv() => self.tell(log).await,
            }
        }
    }

    async fn tell(&mut self, log: UpstreamLog) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        // Without what knows its secrets nothing it says is repeated.
        let scrubber: Option<Arc<Scrubber>> = self.hall.scrubber(self.view, self.whose);
        if let Some(scrubber) = scrubber {
            self.telling.tell(shown(self.server, log, &scrubber)).await;
        }
    }
}

/// A message as the client is to see it.
fn shown(server: &Slug, log: UpstreamLog, scrubber: &Scrubber) -> Value {
    let clean = |value: Value| {
        let mut value = scan::result(value).value;
        scrub_all(&mut value, scrubber);
        value
    };
    let mut said = Map::new();
    said.insert("level".to_owned(), log.level.as_str().into());
    if let Some(logger) = log.logger {
        said.insert("logger".to_owned(), clean(logger.into()));
    }
    said.insert("data".to_owned(), clean(log.data));
    let provenance = json!({PROVENANCE: {"server": server, "trust": "untrusted"}});
    said.insert("_meta".to_owned(), provenance);
    said.into()
}

/// Messages of one call; what more is said is not told.
const MOST: usize = 100;
/// Messages that wait while one is made durable.
const WAITING: usize = 32;

#[cfg(test)]
mod tests {
    use narthex_gate::upstream::{LogLevel, UpstreamLog};
    use secrecy::SecretString;
    use serde_json::json;

    use super::shown;
    use crate::sanitise::Scrubber;

    #[test]
    fn what_is_said_is_clean_and_says_whose_it_is() {
        let secret = SecretString::from("hunter2-hunter2".to_owned());
        let scrubber = Scrubber::new([("TOKEN", &secret)], ["/home/somebody"]);
        let log = UpstreamLog {
            level: LogLevel::Warning,
            logger: Some("a\u{200b}b".to_owned()),
            data: json!({"text": "\u{1b}[31mhunter2-hunter2 in /home/somebody/x", "n": [1, "\u{e0041}"]}),
        };
        let said = shown(&"up".parse().expect("a slug"), log, &scrubber);
        assert_eq!(
            said,
            json!({"level": "warning", "logger": "ab",
                "data": {"text": "[TOKEN] in [path]/x", "n": [1, ""]},
                "_meta": {"narthex/provenance": {"server": "up", "trust": "untrusted"}}})
        );
    }
}
