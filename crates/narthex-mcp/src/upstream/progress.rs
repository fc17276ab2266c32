//! What a server says while it is at work on a question: passed on as far as it makes sense, and no
//! faster than anybody can use it.

use std::time::Duration;

use narthex_gate::upstream::UpstreamProgress;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Who listens to one question's progress.
#[derive(Debug)]
pub(super) struct Ear {
    to: mpsc::Sender<UpstreamProgress>,
    furthest: Option<f64>,
    window: Instant,
    heard: usize,
}

impl Ear {
    pub(super) fn new(to: mpsc::Sender<UpstreamProgress>) -> Self {
        Self { to, furthest: None, window: Instant::now(), heard: 0 }
    }

    /// Passes on what is new. What goes backwards, comes too fast or finds nobody is dropped.
    pub(super) fn hear(&mut self, said: UpstreamProgress) {
        let further = self.furthest.is_none_or(|furthest| said.progress > furthest);
        if !said.progress.is_finite() || !further {
            return;
        }
        if self.window.elapsed() >= WINDOW {
            (self.window, self.heard) = (Instant::now(), 0);
        }
        self.heard += 1;
        if self.heard <= MOST_IN_WINDOW {
            self.furthest = Some(said.progress);
            let _ = self.to.try_send(said);
        }
    }
}

/// The token and the words of a `notifications/progress`; none if it has no token as we give them.
pub(super) fn read(params: Option<&RawValue>) -> Option<(u64, UpstreamProgress)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        progress_token: u64,
        progress: f64,
        #[serde(default)]
        total: Option<f64>,
        #[serde(default)]
        message: Option<String>,
    }
    let params = params.filter(|params| params.get().len() <= MAX_BYTES)?;
    let Params { progress_token, progress, total, message } =
        serde_json::from_str(params.get()).ok()?;
    Some((progress_token, UpstreamProgress { progress, total, message }))
}

const WINDOW: Duration = Duration::from_millis(500);
const MOST_IN_WINDOW: usize = 10;
const MAX_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use narthex_gate::upstream::UpstreamProgress;
    use serde_json::value::RawValue;
    use tokio::sync::mpsc;

    use super::{Ear, read};

    fn at(progress: f64) -> UpstreamProgress {
        UpstreamProgress { progress, total: None, message: None }
    }

    #[tokio::test]
    async fn progress_goes_forward_and_not_too_fast() {
        let (to, mut heard) = mpsc::channel(1000);
        let mut ear = Ear::new(to);
        for progress in [1.0, 1.0, 0.5, f64::NAN, 2.0] {
            ear.hear(at(progress));
        }
        assert_eq!(heard.try_recv(), Ok(at(1.0)));
        assert_eq!(heard.try_recv(), Ok(at(2.0)));
        assert!(heard.try_recv().is_err());
        for n in 3..10_000 {
            ear.hear(at(f64::from(n)));
        }
        let mut rest = 0;
        while heard.try_recv().is_ok() {
            rest += 1;
        }
        assert!(rest < 20, "{rest}");
    }

    #[test]
    fn a_token_is_a_number_of_ours() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("JSON");
        let good = raw(r#"{"progressToken":7,"progress":1,"total":2,"message":"m","x":1}"#);
        assert_eq!(read(Some(&good)).map(|(token, _)| token), Some(7));
        for text in [
            r#"{"progressToken":"7","progress":1}"#,
            r#"{"progressToken":7}"#,
            r#"{"progressToken":7,"progressToken":8,"progress":1}"#,
            r#"{"progress":1}"#,
            "{}",
        ] {
            assert!(read(Some(&raw(text))).is_none(), "{text}");
        }
        let long =
            format!(r#"{{"progressToken":7,"progress":1,"message":"{}"}}"#, "m".repeat(20_000));
        assert!(read(Some(&raw(&long))).is_none());
    }
}
