//! Which of the two eras a message belongs to, and what the modern one must carry.
//!
//! Modern is revision 2026-07-28: no handshake, everything a request needs is in its `_meta`.
//! Legacy are the revisions with `initialize`. A message says its revision in `_meta`; over
//! HTTP the header says it again, and the two must agree.
//!
//! 2024-11-05 is not served: its HTTP transport was another one (two endpoints and a standing
//! event stream), so a client that insists on it could not be answered here. One that offers it
//! in `initialize` is answered with the newest revision that has a handshake, as negotiation
//! asks for, and may go on with that; one that names it in the header gets 400.

use http::{HeaderMap, HeaderName};
use rmcp::model::ProtocolVersion;
use serde_json::Value;

use crate::fault::Fault;
use crate::message::Message;
use crate::named::check_names;

/// How a message is to be understood and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Modern,
    Legacy,
}

impl Era {
    /// Of a message that came with headers.
    pub(crate) fn of_http(message: &Message, headers: &HeaderMap) -> Result<Self, Fault> {
        let header = only(headers, &VERSION_HEADER)?;
        let said = said_version(message)?;
        let era = match (said, header) {
            // The handshake is where a revision is agreed on, so its header says nothing yet.
            (None, _) if message.method == "initialize" => return Ok(Self::Legacy),
            (None, None) => return Ok(Self::Legacy),
            (None, Some(header)) => Self::named(header)?,
            (Some(_), None) => {
                return Err(Fault::header_mismatch("the MCP-Protocol-Version header is missing"));
            }
            (Some(said), Some(header)) if said != header => {
                return Err(Fault::header_mismatch(
                    "the MCP-Protocol-Version header and params._meta name different revisions",
                ));
            }
            (Some(said), Some(_)) => Self::named(said)?,
        };
        if era == Self::Modern {
            check_meta(message)?;
            check_names(message, headers)?;
        }
        Ok(era)
    }

    /// Of a request without a message.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Result<Self, Fault> {
        only(headers, &VERSION_HEADER)?.map_or(Ok(Self::Legacy), Self::named)
    }

    /// Of a message that came on a line.
    pub(crate) fn of_line(message: &Message) -> Result<Self, Fault> {
        let Some(said) = said_version(message)? else { return Ok(Self::Legacy) };
        let era = Self::named(said)?;
        if era == Self::Modern {
            check_meta(message)?;
        }
        Ok(era)
    }

    fn named(version: &str) -> Result<Self, Fault> {
        match SERVED.iter().find(|served| served.as_str() == version) {
            Some(served) if served.has_initialize() => Ok(Self::Legacy),
            Some(_) => Ok(Self::Modern),
            None => Err(Fault::unsupported_version(version)),
        }
    }
}

/// The revision to answer `initialize` with: the one asked for, or the newest with a handshake.
pub(crate) fn negotiate(asked: Option<&Value>) -> ProtocolVersion {
    let asked = asked.and_then(Value::as_str);
    SERVED
        .iter()
        .filter(|served| served.has_initialize())
        .find(|served| Some(served.as_str()) == asked)
        .cloned()
        .unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

/// The revision a message says it follows.
fn said_version(message: &Message) -> Result<Option<&str>, Fault> {
    if message.params.get("_meta").is_some_and(|meta| !meta.is_object()) {
        return Err(Fault::invalid_meta("params._meta must be an object"));
    }
    match message.meta().and_then(|meta| meta.get(VERSION_META_KEY)) {
        None => Ok(None),
        Some(Value::String(version)) => Ok(Some(version)),
        Some(_) => Err(Fault::invalid_meta(
            "params._meta[\"io.modelcontextprotocol/protocolVersion\"] must be a string",
        )),
    }
}

/// What every modern request carries. Notifications need not.
fn check_meta(message: &Message) -> Result<(), Fault> {
    if message.id.is_none() {
        return Ok(());
    }
    let meta = message.meta();
    if !meta.is_some_and(|meta| meta.contains_key(VERSION_META_KEY)) {
        return Err(Fault::invalid_meta(
            "params._meta[\"io.modelcontextprotocol/protocolVersion\"] is required",
        ));
    }
    if !meta.and_then(|meta| meta.get(CAPABILITIES_META_KEY)).is_some_and(Value::is_object) {
        return Err(Fault::invalid_meta(
            "params._meta[\"io.modelcontextprotocol/clientCapabilities\"] must be an object",
        ));
    }
    Ok(())
}

/// A header's value, if it is there once and readable. Space around it is not part of it.
pub(crate) fn only<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Fault> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value
            .to_str()
            .map(|text| Some(text.trim_matches([' ', '\t'])))
            .map_err(|_| Fault::header_mismatch("an MCP header is not readable")),
        (Some(_), Some(_)) => Err(Fault::header_mismatch("an MCP header appears twice")),
    }
}

/// The revisions served, newest first.
pub(crate) const SERVED: &[ProtocolVersion] = &[
    ProtocolVersion::V_2026_07_28,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_03_26,
];
pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const VERSION_META_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const LOG_LEVEL_META_KEY: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const CAPABILITIES_META_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
