//! A message of a server, looked at as far as its envelope: what it carries stays as it came.
//!
//! A key that appears twice could mean one thing here and another to whoever reads after us, so an
//! envelope with one is no message. Batches are none either.

use std::fmt;

use narthex_core::Bound;
use narthex_gate::upstream::UpstreamFault;
use serde::Deserialize;
use serde::de::{Deserializer as _, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::strict;

/// A message, borrowed from the bytes it came in.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// An answer. The id is a number as we give them, or none: then it answers nobody.
    Answer { id: Option<u64>, said: Said<'a> },
    /// A request of the server's own, under an id of its own.
    Request { id: &'a RawValue, method: String, params: Option<&'a RawValue> },
    /// Something it says by the way.
    Notice { method: String, params: Option<&'a RawValue> },
}

/// What an answer says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said<'a> {
    Result(&'a RawValue),
    Error(&'a RawValue),
}

impl<'a> Incoming<'a> {
    /// Reads a message; none if the bytes are none.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let envelope = reader.deserialize_map(EnvelopeReader).ok()?;
        reader.end().ok()?;
        envelope.sorted()
    }
}

impl Said<'_> {
    /// The result as it came, or what is in its place. More than `most` is not taken.
    pub(super) fn taken(self, most: usize) -> Result<Box<RawValue>, UpstreamFault> {
        let (Self::Result(raw) | Self::Error(raw)) = self;
        if raw.get().len() > most {
            return Err(UpstreamFault::TooLarge { size: Some(raw.get().len() as u64), most });
        }
        match self {
            Self::Result(raw) if raw.get().starts_with('{') => Ok(raw.to_owned()),
            Self::Result(_) => Err(garbled("a result is no object")),
            Self::Error(raw) => Err(refused(raw)),
        }
    }
}

/// An error object as a fault.
fn refused(raw: &RawValue) -> UpstreamFault {
    #[derive(Deserialize)]
    struct ErrorObject<'a> {
        code: i64,
        #[serde(default)]
        message: String,
        #[serde(borrow, default)]
        data: Option<&'a RawValue>,
    }
    let Ok(error) = serde_json::from_str::<ErrorObject<'_>>(raw.get()) else {
        return garbled("an error has no code");
    };
    // What we cannot read exactly is not repeated.
    let data = error.data.and_then(|data| strict::parse(data.get().as_bytes()).ok());
    UpstreamFault::Refused { code: error.code, message: error.message, data: data.map(Box::new) }
}

pub(super) fn garbled(why: &str) -> UpstreamFault {
    UpstreamFault::Garbled(why.to_owned())
}

#[derive(Debug, Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Which of the kinds it is: exactly one, or none.
    fn sorted(self) -> Option<Incoming<'a>> {
        if self.jsonrpc?.get() != "\"2.0\"" {
            return None;
        }
        let answer = |id: &RawValue, said| Incoming::Answer { id: id.get().parse().ok(), said };
        match (self.method, self.id, self.result, self.error) {
            (None, Some(id), Some(result), None) => Some(answer(id, Said::Result(result))),
            (None, Some(id), None, Some(error)) => Some(answer(id, Said::Error(error))),
            (None, None, None, Some(error)) => {
                Some(Incoming::Answer { id: None, said: Said::Error(error) })
            }
            (Some(method), id, None, None) => {
                let method: String = serde_json::from_str(method.get()).ok()?;
                if method.is_empty() || method.len() > MAX_METHOD || !self.has_object_params() {
                    return None;
                }
                let params = self.params;
                Some(match id {
                    Some(id) if is_id(id) => Incoming::Request { id, method, params },
                    Some(_) => return None,
                    None => Incoming::Notice { method, params },
                })
            }
            _ => None,
        }
    }

    fn has_object_params(&self) -> bool {
        self.params.is_none_or(|params| params.get().starts_with('{'))
    }
}

/// Whether a request may be called this: it is sent back as it came.
fn is_id(id: &RawValue) -> bool {
    let text = id.get();
    text.len() <= Bound::REQUEST_ID_CHARS && (text.starts_with('"') || text.parse::<i64>().is_ok())
}

struct EnvelopeReader;

impl<'de> Visitor<'de> for EnvelopeReader {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = entries.next_key::<String>()? {
            let place = match key.as_str() {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if place.replace(entries.next_value::<&RawValue>()?).is_some() {
                return Err(A::Error::custom("a key appears twice"));
            }
        }
        Ok(envelope)
    }
}

const MAX_METHOD: usize = 128;

#[cfg(test)]
mod tests {
    use narthex_gate::upstream::UpstreamFault;

    use super::{Incoming, Said};

    #[test]
    fn what_is_carried_stays_as_it_came() {
        let result = r#"{ "z":1.50, "a":{"x":1,"x":2}, "big":123456789012345678901234567890 }"#;
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
            format!(r#" {{"result": {result}, "extra":[1], "jsonrpc":"2.0", "id":7 }} "#),
        ] {
            let Some(Incoming::Answer { id: Some(7), said }) = Incoming::read(text.as_bytes())
            else {
                panic!("{text}");
            };
            assert_eq!(said.taken(1000).expect("a result").get(), result);
        }
    }

    #[test]
    fn f15_an_id_is_a_number_of_ours_or_nobodys() {
        for (id, ours) in [
            ("7", Some(7)),
            ("\"7\"", None),
            ("7.0", None),
            ("7e0", None),
            ("-7", None),
            ("null", None),
            ("[7]", None),
            ("18446744073709551616", None),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            match Incoming::read(text.as_bytes()) {
                Some(Incoming::Answer { id, .. }) => assert_eq!(id, ours, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn b01_what_could_be_read_two_ways_is_no_message() {
        let long = "m".repeat(129);
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"\u0069d":2,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","method":5}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}} {}"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
            "[]",
            "null",
            "",
            "Server listening",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\u{0}\"}",
            &format!(r#"{{"jsonrpc":"2.0","method":"{long}"}}"#),
            &format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"m"}}"#),
            &deep,
        ] {
            assert!(Incoming::read(text.as_bytes()).is_none(), "{}", &text[..text.len().min(80)]);
        }
        assert!(Incoming::read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}").is_none());
    }

    #[test]
    fn errors_are_read_and_nothing_is_larger_than_allowed() {
        let read = |text: &'static str, most| match Incoming::read(text.as_bytes()) {
            Some(Incoming::Answer { said, .. }) => said.taken(most),
            other => panic!("{other:?}"),
        };
        let text =
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":{"a":1}}}"#;
        match read(text, 1000) {
            Err(UpstreamFault::Refused { code: -32601, message, data: Some(_) }) => {
                assert_eq!(message, "no");
            }
            other => panic!("{other:?}"),
        }
        let doubled = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2}}"#;
        assert!(matches!(read(doubled, 1000), Err(UpstreamFault::Garbled(_))));
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"a":"0123456789"}}"#;
        let large = read(text, 17);
        assert!(matches!(large, Err(UpstreamFault::TooLarge { size: Some(18), most: 17 })));
        assert!(read(text, 18).is_ok());
        let text = r#"{"jsonrpc":"2.0","id":1,"result":[]}"#;
        assert!(matches!(read(text, 100), Err(UpstreamFault::Garbled(_))));
        assert!(matches!(
            Incoming::read(text.as_bytes()),
            Some(Incoming::Answer { said: Said::Result(_), .. })
        ));
    }
}
