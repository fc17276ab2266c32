//! Which pages a person is sent to.

use url::{Host, Url};

use crate::scan::leads_inside;

/// An https page of a plain host out there, written so that nothing on the way could take it for
/// anything else.
pub(super) fn is_plain_page(address: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#=&%+,".contains(c);
    if address.len() > MAX_URL || !address.starts_with("https://") || !address.chars().all(plain) {
        return false;
    }
    let Ok(url) = Url::parse(address) else { return false };
    let Some(Host::Domain(host)) = url.host() else { return false };
    let disguised = !url.username().is_empty() || url.password().is_some() || host.contains("xn--");
    // What a parser had to put right was not plain.
    let same = address.strip_prefix("https://").is_some_and(|rest| rest.starts_with(host));
    !disguised && same && !leads_inside(address)
}

const MAX_URL: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::is_plain_page;

    #[test]
    fn f18_only_plain_pages_out_there() {
        for (address, plain) in [
            ("https://example.com/login?x=1&y=%20#z", true),
            ("https://example.com:8443/a", true),
            ("http://example.com/", false),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("file:///etc/passwd", false),
            ("https://user@example.com/", false),
            ("https://user:x@example.com/", false),
            ("https://example.com/;rm%20-rf", false),
            ("https://example.com/$(id)", false),
            ("https://example.com/`id`", false),
            ("https://example.com/a|b", false),
            ("https://example.com/a b", false),
            ("https://example.com/\"x", false),
            ("https://example.com\\@evil.example/", false),
            ("https://127.0.0.1/", false),
            ("https://2130706433/", false),
            ("https://[::1]/", false),
            ("https://localhost/", false),
            ("https://intranet/", false),
            ("https://printer.local/", false),
            ("https://metadata.google.internal/", false),
            ("https://169.254.169.254/latest", false),
            ("https://8.8.8.8/", false),
            ("https://xn--pple-43d.com/", false),
            ("https://ex\u{430}mple.com/", false),
            ("https:///example.com", false),
            ("", false),
        ] {
            assert_eq!(is_plain_page(address), plain, "{address}");
        }
    }
}
