//! A `notifications/message`, as far as it is passed on.

use narthex_gate::upstream::{LogLevel, UpstreamLog};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::strict;

/// What it says; none if it is no message for a log, or a longer one than anybody reads.
pub(super) fn read(params: Option<&RawValue>) -> Option<UpstreamLog> {
    #[derive(Deserialize)]
    struct Params<'a> {
        level: String,
        #[serde(default)]
        logger: Option<String>,
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let params = params.filter(|params| params.get().len() <= MAX_BYTES)?;
    let Params { level, logger, data } = serde_json::from_str(params.get()).ok()?;
    // What cannot be read in one way only is not repeated.
    let data = strict::parse(data.get().as_bytes()).ok()?;
    Some(UpstreamLog { level: LogLevel::parse(&level)?, logger, data })
}

/// The address in a `notifications/resources/updated`.
pub(super) fn updated(params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Params {
        uri: String,
    }
    let params = params.filter(|params| params.get().len() <= MAX_BYTES)?;
    serde_json::from_str::<Params>(params.get()).ok().map(|params| params.uri)
}

const MAX_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use narthex_gate::upstream::LogLevel;
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::{read, updated};

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn only_what_is_a_message_for_a_log_is_read() {
        let log = read(Some(&raw(r#"{"level":"info","logger":"a","data":{"b":[1]},"x":1}"#)));
        let log = log.expect("a message");
        assert_eq!((log.level, log.logger.as_deref()), (LogLevel::Info, Some("a")));
        assert_eq!(log.data, json!({"b": [1]}));
        for text in [
            r#"{"level":"loud","data":1}"#,
            r#"{"level":"info"}"#,
            r#"{"data":1}"#,
            r#"{"level":"info","level":"debug","data":1}"#,
            r#"{"level":"info","data":{"a":1,"a":2}}"#,
            "{}",
        ] {
            assert!(read(Some(&raw(text))).is_none(), "{text}");
        }
        let long = format!(r#"{{"level":"info","data":"{}"}}"#, "x".repeat(20_000));
        assert!(read(Some(&raw(&long))).is_none());
        assert_eq!(updated(Some(&raw(r#"{"uri":"a://b"}"#))).as_deref(), Some("a://b"));
        assert!(updated(Some(&raw(r#"{"uri":1}"#))).is_none());
        assert!(updated(None).is_none());
    }
}
