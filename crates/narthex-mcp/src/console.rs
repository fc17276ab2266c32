//! Where the owner's console is, for clients that can send a person there.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::Uri;
use narthex_core::ApprovalId;

/// The console's base URL: https, or http on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleUrl(String);

/// A URL nobody should be sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no console URL: write https://host or http://localhost, with a path if there is one"
)]
pub struct ConsoleUrlError(String);

impl ConsoleUrl {
    /// Reads a base URL. No user, no query, no fragment: pages are found below it.
    pub fn parse(text: &str) -> Result<Self, ConsoleUrlError> {
        let bad = || ConsoleUrlError(text.chars().take(MAX_SHOWN).collect());
        // The parser drops a fragment without a word.
        if text.contains(['#', '?', '@']) {
            return Err(bad());
        }
        let uri: Uri = text.parse().map_err(|_| bad())?;
        let safe = match (uri.scheme_str(), uri.host()) {
            (Some("https"), Some(host)) => !host.is_empty(),
            (Some("http"), Some(host)) => is_here(host),
            _ => false,
        };
        if safe { Ok(Self(text.trim_end_matches('/').to_owned())) } else { Err(bad()) }
    }

    /// Where the owner decides on a request.
    pub fn approval(&self, id: ApprovalId) -> String {
        format!("{}/approvals/{id}", self.0)
    }
}

fn is_here(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
        || host.trim_matches(['[', ']']).parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback())
}

const MAX_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::ConsoleUrl;
    use narthex_core::ApprovalId;
    use uuid::Uuid;

    #[test]
    fn a_person_is_sent_to_https_or_to_this_machine() {
        for (url, base) in [
            ("https://console.example", Some("https://console.example")),
            ("https://console.example/", Some("https://console.example")),
            ("https://console.example:8443/narthex/", Some("https://console.example:8443/narthex")),
            ("http://localhost:7431", Some("http://localhost:7431")),
            ("http://127.0.0.1:7431/", Some("http://127.0.0.1:7431")),
            ("http://[::1]:7431", Some("http://[::1]:7431")),
            ("http://console.example", None),
            ("http://localhost.evil.example", None),
            ("http://127.0.0.1.evil.example", None),
            ("https://user:pass@console.example", None),
            ("https://console.example@evil.example", None),
            ("https://console.example/?a=b", None),
            ("https://console.example/#a", None),
            ("javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("file:///etc/passwd", None),
            ("console.example", None),
            ("/approvals", None),
            ("https://", None),
            ("https://a b", None),
            ("", None),
        ] {
            let id = ApprovalId::from_uuid(Uuid::from_u128(7));
            let page = ConsoleUrl::parse(url).ok().map(|console| console.approval(id));
            assert_eq!(page, base.map(|base| format!("{base}/approvals/{id}")), "{url}");
        }
    }
}
