//! The text before anybody has interpreted it.

use ::url::Url;

use super::UrlFault;

/// The parts of a URL that decide where it leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) secure: bool,
    pub(super) host: &'a str,
    pub(super) port: Option<u16>,
}

/// Refuses what readers of URLs skip, turn around or disagree on.
pub(super) fn check_characters(text: &str) -> Result<(), UrlFault> {
    if text.chars().any(char::is_control) {
        return Err(UrlFault::Control);
    }
    if !text.is_ascii() {
        return Err(UrlFault::NotAscii(host_in_ascii(text)));
    }
    for character in text.chars() {
        match character {
            ' ' => return Err(UrlFault::Blank),
            '\\' => return Err(UrlFault::Backslash),
            '"' | '<' | '>' | '^' | '`' | '{' | '|' | '}' => return Err(UrlFault::Character),
            _ => {}
        }
    }
    check_escapes(text)
}

fn check_escapes(text: &str) -> Result<(), UrlFault> {
    for rest in text.split('%').skip(1) {
        let digits = rest.get(..2).filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match value {
            None => return Err(UrlFault::Percent),
            Some(byte) if byte.is_ascii_control() => return Err(UrlFault::EncodedControl),
            Some(_) => {}
        }
    }
    Ok(())
}

/// Splits a URL whose characters were checked.
pub(super) fn split(text: &str) -> Result<Parts<'_>, UrlFault> {
    let (scheme, rest) = text.split_once("://").ok_or(UrlFault::Scheme)?;
    let secure = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return Err(UrlFault::Scheme),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlFault::Userinfo);
    }
    if rest.contains('#') {
        return Err(UrlFault::Fragment);
    }
    if authority.contains('%') {
        return Err(UrlFault::EncodedHost);
    }
    let (host, port) = split_port(authority)?;
    if host.is_empty() {
        return Err(UrlFault::NoHost);
    }
    Ok(Parts { secure, host, port })
}

/// `host`, `host:port`, `[address]`, `[address]:port`.
pub(crate) fn split_port(authority: &str) -> Result<(&str, Option<u16>), UrlFault> {
    let host_end = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at_checked(host_end).ok_or(UrlFault::BadHost)?;
    if rest.is_empty() {
        return Ok((host, None));
    }
    let digits = rest.strip_prefix(':').ok_or(UrlFault::BadHost)?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    let port = digits.parse().ok().filter(|port| plain && *port != 0);
    port.map(|port| (host, Some(port))).ok_or(UrlFault::Port)
}

/// How a reader of URLs would write the host in ASCII (punycode, or the address it becomes).
fn host_in_ascii(text: &str) -> Option<String> {
    Url::parse(text).ok()?.host_str().map(str::to_owned)
}
