//! What can be wrong with the text of a URL.

/// Why a URL was refused before anything was looked up. None of these repeats the text: it may
/// hold a password or a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// Longer than the cap.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// A tab, a line break, a zero byte or another control character.
    #[error("it holds a control character")]
    Control,
    /// Blanks are written `%20`.
    #[error("it holds a blank; write %20")]
    Blank,
    /// Some readers take it for a slash, others do not.
    #[error("it holds a backslash")]
    Backslash,
    /// Letters that only look like others have no place in a host's name.
    #[error("it holds characters outside ASCII{}", shown(.0.as_deref()))]
    NotAscii(Option<String>),
    /// A character that RFC 3986 does not allow anywhere.
    #[error("it holds a character that must be percent-encoded")]
    Character,
    /// A percent sign that is not followed by two hexadecimal digits.
    #[error("a percent sign is not followed by two hexadecimal digits")]
    Percent,
    /// `%00`, `%0a` and their like.
    #[error("it holds a percent-encoded control character")]
    EncodedControl,
    /// Not `https://` (or `http://`), spelled with both slashes.
    #[error("it does not start with https://")]
    Scheme,
    /// In clear to another machine.
    #[error(
        "it is http, and only https is fetched (http to this machine needs egress.loopback_http)"
    )]
    PlainHttp,
    /// `user:password@`.
    #[error("it holds a user name or password; give credentials as a header")]
    Userinfo,
    /// `#` and what follows is for readers of a page.
    #[error("it holds a fragment (#)")]
    Fragment,
    /// Nobody to ask.
    #[error("it names no host")]
    NoHost,
    /// A host spelled with percent signs, or an IPv6 zone.
    #[error("its host is percent-encoded or has a zone")]
    EncodedHost,
    /// `example.com.` is not what certificates and the allow-list say.
    #[error("its host ends with a dot")]
    TrailingDot,
    /// Not letters, digits, hyphens and dots in labels of 1 to 63.
    #[error("its host is not a well-formed name or address")]
    BadHost,
    /// Octal, hexadecimal, shortened: there is one way to write an address.
    #[error("its host is an odd spelling of the address {0}")]
    Spelling(String),
    /// Zero, too large, empty, or with leading zeros.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// A second reader understood the text differently.
    #[error("it can be read in more than one way")]
    Ambiguous,
}

fn shown(host: Option<&str>) -> String {
    host.map(|host| format!("; its host is {host}")).unwrap_or_default()
}
