//! What is sent and what may be answered: media types, in both directions.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};

/// What a client can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Takes {
    /// An event stream, said explicitly.
    pub(super) events: bool,
}

/// Whether the body is plain JSON: one content type, nothing compressed.
pub(super) fn sends_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (types.next(), types.next()) else { return false };
    let Ok(kind) = kind.to_str() else { return false };
    let mut parts = kind.split(';');
    let json = parts.next().is_some_and(|main| same(main, "application/json"));
    // A body is read as UTF-8 whatever a charset says, so another one would be misread.
    let charset = parts.all(|part| match part.split_once('=') {
        Some((name, value)) if same(name, "charset") => {
            same(value.trim().trim_matches('"'), "utf-8")
        }
        _ => true,
    });
    let plain = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .all(|value| value.to_str().is_ok_and(|value| same(value, "identity")));
    json && charset && plain
}

/// What the client takes, or none if JSON is not among it.
pub(super) fn takes(headers: &HeaderMap) -> Option<Takes> {
    if !headers.contains_key(ACCEPT) {
        return Some(Takes { events: false });
    }
    let json = wanted(headers).any(|kind| {
        ["*/*", "application/*", "application/json"].iter().any(|known| same(kind, known))
    });
    json.then(|| Takes { events: takes_events(headers) })
}

/// Whether the client says explicitly that it takes an event stream.
pub(super) fn takes_events(headers: &HeaderMap) -> bool {
    wanted(headers).any(|kind| same(kind, "text/event-stream"))
}

/// The media ranges the client names and does not turn down.
fn wanted(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|range| {
        let mut parts = range.split(';');
        let kind = parts.next().unwrap_or_default();
        (!parts.any(is_zero)).then_some(kind)
    })
}

/// `q=0` in any of its spellings: not wanted.
fn is_zero(parameter: &str) -> bool {
    parameter
        .split_once('=')
        .is_some_and(|(name, value)| same(name, "q") && value.trim().parse() == Ok(0.0_f32))
}

fn same(text: &str, expected: &str) -> bool {
    text.trim().eq_ignore_ascii_case(expected)
}

#[cfg(test)]
mod tests {
    use super::{sends_json, takes};
    use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
    use http::{HeaderMap, HeaderValue};

    #[test]
    fn only_json_is_read() {
        for (kind, good) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=utf-16", false),
            ("text/plain", false),
            ("application/json-patch", false),
            ("application/x-www-form-urlencoded", false),
            ("multipart/form-data; boundary=application/json", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            assert_eq!(sends_json(&headers), good, "{kind:?}");
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            assert!(!sends_json(&headers), "{kind:?} gzipped");
        }
        assert!(!sends_json(&HeaderMap::new()));
    }

    #[test]
    fn json_must_be_taken_and_events_are_never_assumed() {
        for (accept, taken) in [
            (None, Some(false)),
            (Some("*/*"), Some(false)),
            (Some("application/*"), Some(false)),
            (Some("application/json"), Some(false)),
            (Some("application/json, text/event-stream"), Some(true)),
            (Some("text/event-stream;q=0, */*;q=0.1"), Some(false)),
            (Some("text/event-stream"), None),
            (Some("text/html"), None),
            (Some("application/json;q=0"), None),
            (Some("application/json; q=0.000"), None),
            (Some(""), None),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, HeaderValue::from_static(accept));
            }
            assert_eq!(takes(&headers).map(|takes| takes.events), taken, "{accept:?}");
        }
    }
}
