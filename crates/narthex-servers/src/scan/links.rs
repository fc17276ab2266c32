//! Links and images: whoever shows or follows one tells its address to someone.

use std::net::IpAddr;
use std::sync::LazyLock;

use regex::Regex;
use url::{Host, Url};

use super::finding::{Code, Finding, Findings, Severity};

/// Where a link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    InDefinition,
    InResult,
}

/// Looks for them in a text.
pub(super) fn look(text: &str, stands: Stands, place: &dyn Fn() -> String, found: &mut Findings) {
    if text.contains('[') || text.contains('<') {
        images(text, stands, place, found);
    }
    for url in urls(text) {
        if let Some(code) = judge(url) {
            found.add(Finding::new(code, place(), url));
        }
    }
}

fn images(text: &str, stands: Stands, place: &dyn Fn() -> String, found: &mut Findings) {
    let Some(pattern) = IMAGES.as_ref() else { return };
    for image in pattern.captures_iter(text).take(MAX_URLS) {
        let address = image.name("to").map(|to| to.as_str());
        let severity = match (stands, address) {
            (_, Some(address)) if !is_elsewhere(address) => continue,
            (Stands::InDefinition, _) => Severity::High,
            // What is fetched from one fixed place says little; a query can say anything.
            (Stands::InResult, Some(address)) if !carries(address) => Severity::Info,
            (Stands::InResult, _) => Severity::Warn,
        };
        let shown = image.get(0).map_or("", |whole| whole.as_str());
        found.add(Finding::graded(Code::Image, severity, place(), shown));
    }
}

fn is_elsewhere(address: &str) -> bool {
    let start: String = address.chars().take(8).collect::<String>().to_ascii_lowercase();
    start.starts_with("http:") || start.starts_with("https:") || start.starts_with("//")
}

fn carries(address: &str) -> bool {
    address.contains(['?', '{', '%', '@']) || address.len() > LONG_ADDRESS
}

/// What is odd about an address, if anything.
fn judge(address: &str) -> Option<Code> {
    if is_internal(address) {
        return Some(Code::Internal);
    }
    let url = Url::parse(address).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let by_address = matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)));
    let disguised = !url.username().is_empty() || url.password().is_some();
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let open = query.contains(['{', '<', '$', '[']) || query.to_ascii_lowercase().contains("%7b");
    let long = url.query_pairs().any(|(_, value)| value.len() > LONG_VALUE);
    let strange = url.host_str().is_some_and(|host| host.contains("xn--"));
    (by_address || disguised || open || long || strange).then_some(Code::Link)
}

/// Whether an address leads inside: a file, this machine, the local network.
pub(crate) fn is_internal(address: &str) -> bool {
    let Ok(url) = Url::parse(address.trim()) else { return false };
    if matches!(url.scheme(), "file" | "unix" | "smb" | "afp" | "nfs") {
        return true;
    }
    if !matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp" | "gopher") {
        return false;
    }
    match url.host() {
        Some(Host::Ipv4(address)) => is_inside(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => is_inside(IpAddr::V6(address)),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let inner = [".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet"];
            !name.contains('.') || inner.iter().any(|end| name.ends_with(end))
        }
        None => false,
    }
}

/// Not the filter that decides (that is the egress): what is worth a word.
fn is_inside(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || (a == 100 && (64..128).contains(&b))
        }
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || v6.to_ipv4_mapped().is_some_and(|v4| is_inside(IpAddr::V4(v4)))
        }
    }
}

/// The addresses in a text: from the scheme to what cannot be part of one.
fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").take(MAX_URLS).filter_map(move |(at, _)| {
        let before = text.get(..at)?;
        let scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = before.char_indices().rev().take_while(|(_, c)| scheme(*c)).last()?.0;
        let from = text.get(start..)?;
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '>' | ')' | '\\' | '|');
        let end = from.char_indices().take(MAX_URL).find(|(_, c)| ends(*c));
        let end = end.or_else(|| from.char_indices().nth(MAX_URL)).map_or(from.len(), |(n, _)| n);
        from.get(..end).map(|url| url.trim_end_matches(['.', ',', ';', ']', '}']))
    })
}

/// `![…](…)`, `![…][…]`, `<img …>` and CSS that fetches.
static IMAGES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"!\[[^\]]*\]\((?-u:\s)*<?(?P<to>[^)\x00-\x20>]+)",
        r"|!\[[^\]]*\]\[[^\]]*\]",
        r"|<(?i:img|image|input)(?-u:\b)[^>]*(?i:src|href)[^>]*>?",
        r"|(?i:url)\((?-u:\s)*['\x22]?(?i:https?:)?//[^)]*",
    ))
    .ok()
});

const MAX_URLS: usize = 200;
const MAX_URL: usize = 2_048;
const LONG_VALUE: usize = 64;
const LONG_ADDRESS: usize = 200;

#[cfg(test)]
mod tests {
    use super::super::finding::{Code, Findings, Severity};
    use super::{Stands, is_internal, look};

    fn found(text: &str, stands: Stands) -> Vec<(Code, Severity)> {
        let mut findings = Findings::default();
        look(text, stands, &String::new, &mut findings);
        findings.done().into_iter().map(|f| (f.code, f.severity)).collect()
    }

    #[test]
    fn what_carries_data_out_is_found() {
        use Severity::{High, Info, Warn};
        for (text, in_definition, in_result) in [
            ("see https://docs.example.com/guide", vec![], vec![]),
            ("see [the guide](https://docs.example.com/a#b).", vec![], vec![]),
            (
                "![x](https://evil.example/?d=abc)",
                vec![(Code::Image, High)],
                vec![(Code::Image, Warn)],
            ),
            (
                "![x](https://evil.example/logo.png)",
                vec![(Code::Image, High)],
                vec![(Code::Image, Info)],
            ),
            ("![x][1]", vec![(Code::Image, High)], vec![(Code::Image, Warn)]),
            ("![x](local.png)", vec![], vec![]),
            (
                "<img src=\"https://e.example/a\">",
                vec![(Code::Image, High)],
                vec![(Code::Image, Warn)],
            ),
            ("https://e.example/?q={secret}", vec![(Code::Link, Warn)], vec![(Code::Link, Warn)]),
            ("https://api.example/repos/{owner}/{repo}", vec![], vec![]),
            (
                "https://google.com@evil.example/",
                vec![(Code::Link, Warn)],
                vec![(Code::Link, Warn)],
            ),
            ("http://8.8.8.8/x", vec![(Code::Link, Warn)], vec![(Code::Link, Warn)]),
            (
                "http://169.254.169.254/latest",
                vec![(Code::Internal, Warn)],
                vec![(Code::Internal, Warn)],
            ),
            ("file:///etc/hosts", vec![(Code::Internal, Warn)], vec![(Code::Internal, Warn)]),
            ("a://b", vec![], vec![]),
            ("://", vec![], vec![]),
        ] {
            assert_eq!(found(text, Stands::InDefinition), in_definition, "{text}");
            assert_eq!(found(text, Stands::InResult), in_result, "{text}");
        }
        let long = format!("https://e.example/?d={}", "a".repeat(100));
        assert_eq!(found(&long, Stands::InResult), [(Code::Link, Warn)]);
    }

    #[test]
    fn inside_is_inside_however_it_is_spelled() {
        for (address, inside) in [
            ("file:///x", true),
            ("FILE:///x", true),
            ("http://localhost:8080", true),
            ("http://127.0.0.1", true),
            ("http://0x7f000001/", true),
            ("http://2130706433/", true),
            ("http://[::1]/", true),
            ("http://[::ffff:10.0.0.1]/", true),
            ("http://10.1.2.3", true),
            ("http://100.64.0.1", true),
            ("http://metadata.google.internal/", true),
            ("http://printer.local./", true),
            ("http://router/", true),
            ("https://example.com", false),
            ("https://8.8.8.8", false),
            ("data:text/plain,x", false),
            ("not a url", false),
        ] {
            assert_eq!(is_internal(address), inside, "{address}");
        }
    }

    #[test]
    fn the_worst_text_is_read_once() {
        for text in ["a://", "![", "![x](", "<img ", "url(//"] {
            let text = text.repeat(100_000);
            let _ = found(&text, Stands::InResult);
        }
    }
}
