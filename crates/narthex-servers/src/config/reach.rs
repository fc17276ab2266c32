//! How a server is reached: a process, or HTTP.

use std::path::PathBuf;

use crate::secret_look::{name_tells, shape_tells};

use super::auth::Auth;
use super::error::{ConfigFault, ConfigWarning, WarningKind};
use super::fields::{Field, Fields, Outcome};
use super::resolve::checked_url;
use super::walls::absolute;
use super::written::{Part, Written, as_variable, is_variable};

/// How.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A process that we start.
    Process(Process),
    /// A server at a URL.
    Http(Http),
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The program, as it is written.
    pub command: String,
    /// What it is given.
    pub args: Vec<Written>,
    /// What it finds in its environment, besides what any program needs.
    pub env: Vec<(String, Written)>,
    /// Where it is started.
    pub cwd: Option<PathBuf>,
}

/// A server at a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// Where.
    pub url: Written,
    /// What is sent along.
    pub headers: Vec<(String, Written)>,
    /// How we prove who we are.
    pub auth: Option<Auth>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Process,
    Http,
    Sse,
}

impl Reach {
    pub(super) fn read(
        fields: &mut Fields<'_>,
        warnings: &mut Vec<ConfigWarning>,
    ) -> Outcome<Self> {
        let kinds = [
            ("stdio", Kind::Process),
            ("http", Kind::Http),
            ("streamable-http", Kind::Http),
            ("streamableHttp", Kind::Http),
            ("sse", Kind::Sse),
        ];
        let said = fields.take("type");
        let kind = said.as_ref().map(|field| field.word(&kinds, "stdio, http and streamable-http"));
        let kind = kind.transpose()?;
        if let (Some(field), Some(Kind::Sse)) = (&said, kind) {
            return field.fault(ConfigFault::Sse);
        }
        let (command, url) = (fields.take("command"), fields.take("url"));
        match (kind, command, url) {
            (_, Some(_), Some(_)) => fields.fault(ConfigFault::TwoReaches),
            (None | Some(Kind::Process), Some(command), None) => {
                Process::read(&command, fields, warnings).map(Self::Process)
            }
            (None | Some(Kind::Http), None, Some(url)) => {
                Http::read(&url, fields, warnings).map(Self::Http)
            }
            (_, None, None) => fields.fault(ConfigFault::NoReach),
            (_, Some(command), None) => command.fault(misplaced("command", BY_PROCESS)),
            (_, None, Some(url)) => url.fault(misplaced("url", BY_HTTP)),
        }
    }
}

impl Process {
    fn read(
        command: &Field<'_>,
        fields: &mut Fields<'_>,
        warnings: &mut Vec<ConfigWarning>,
    ) -> Outcome<Self> {
        let program = command.plain("a command", MAX_COMMAND)?;
        if program.contains("${") {
            return command.fault(ConfigFault::NoSubstitution);
        }
        refuse(fields, &["headers", "auth"], BY_HTTP)?;
        let args = fields.take("args").map(|field| args(&field, warnings)).transpose()?;
        let env = fields.take("env").map(|field| read_env(field, warnings)).transpose()?;
        let cwd = fields.take("cwd").map(|field| absolute(&field)).transpose()?;
        Ok(Self {
            command: program.to_owned(),
            args: args.unwrap_or_default(),
            env: env.unwrap_or_default(),
            cwd,
        })
    }
}

impl Http {
    fn read(
        url: &Field<'_>,
        fields: &mut Fields<'_>,
        warnings: &mut Vec<ConfigWarning>,
    ) -> Outcome<Self> {
        refuse(fields, &["args", "env", "cwd", "walls"], BY_PROCESS)?;
        let written = Written::read(url, "a URL", MAX_URL)?;
        if written.is_literal() {
            let plain = written.parts().iter().find_map(|part| match part {
                Part::Literal(text) => Some(text.as_str()),
                _ => None,
            });
            let parsed = checked_url(plain.unwrap_or_default()).map_err(|why| url.error(why))?;
            warn_of_url(url, &parsed, warnings);
        }
        let headers = fields.take("headers").map(|field| headers(field, warnings)).transpose()?;
        let headers = headers.unwrap_or_default();
        let auth = fields.take("auth").map(Auth::read).transpose()?;
        let twice = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if twice && auth.is_some() {
            return fields.fault(ConfigFault::Conflict(
                "`auth` and a header `Authorization` say the same thing; keep one",
            ));
        }
        Ok(Self { url: written, headers, auth })
    }
}

fn warn_of_url(field: &Field<'_>, url: &url::Url, warnings: &mut Vec<ConfigWarning>) {
    let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if url.scheme() == "http" && !loopback {
        warn(field, WarningKind::PlainHttp, warnings);
    }
    let secret = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| {
        (name_tells(&name) || shape_tells(&value)).then(|| as_variable(&name))
    };
    if let Some(variable) = url.query_pairs().find_map(secret) {
        warn(field, WarningKind::LiteralSecret { variable }, warnings);
    }
}

fn args(field: &Field<'_>, warnings: &mut Vec<ConfigWarning>) -> Outcome<Vec<Written>> {
    let mut args = Vec::new();
    for item in field.items("arguments", MAX_ARGS)? {
        let written = Written::read(&item, "an argument", MAX_ARG)?;
        if written.is_literal() && shape_tells(written.as_written()) {
            let variable = "SECRET".to_owned();
            warn(&item, WarningKind::LiteralSecret { variable }, warnings);
        }
        args.push(written);
    }
    Ok(args)
}

/// Variables of a process, of a server or of a profile.
pub(super) fn read_env(
    field: Field<'_>,
    warnings: &mut Vec<ConfigWarning>,
) -> Outcome<Vec<(String, Written)>> {
    let mut env = Vec::new();
    for entry in field.fields()?.all("variables", MAX_ENV)? {
        if !is_variable(entry.key) {
            return entry.fault(ConfigFault::VariableName);
        }
        let written = Written::read(&entry, "a variable's value", MAX_VALUE)?;
        warn_of_secret(&entry, &written, warnings);
        env.push((entry.key.to_owned(), written));
    }
    env.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(env)
}

fn headers(field: Field<'_>, warnings: &mut Vec<ConfigWarning>) -> Outcome<Vec<(String, Written)>> {
    let mut headers: Vec<(String, Written)> = Vec::new();
    for entry in field.fields()?.all("headers", MAX_HEADERS)? {
        let name = entry.key.to_ascii_lowercase();
        if let Some(why) = header_fault(&name) {
            return entry.fault(ConfigFault::Header(why));
        }
        if headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(&name)) {
            return entry.fault(ConfigFault::Header("the header is there twice; keep one"));
        }
        let written = Written::read(&entry, "a header's value", MAX_VALUE)?;
        warn_of_secret(&entry, &written, warnings);
        headers.push((entry.key.to_owned(), written));
    }
    headers.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(headers)
}

fn header_fault(name: &str) -> Option<&'static str> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || name.len() > 128 || !name.bytes().all(token) {
        return Some("a header's name is letters, digits and '-', at most 128");
    }
    let ours = name.starts_with("mcp-")
        || name.starts_with("proxy-")
        || name.starts_with("sec-")
        || OUR_HEADERS.contains(&name);
    ours.then_some("this header is written by Narthex itself; take it out")
}

fn warn_of_secret(field: &Field<'_>, value: &Written, warnings: &mut Vec<ConfigWarning>) {
    let text = value.as_written();
    let tells = !text.is_empty() && (name_tells(field.key) || shape_tells(text));
    if value.is_literal() && tells {
        let kind = WarningKind::LiteralSecret { variable: as_variable(field.key) };
        warn(field, kind, warnings);
    }
}

fn warn(field: &Field<'_>, kind: WarningKind, warnings: &mut Vec<ConfigWarning>) {
    warnings.push(ConfigWarning { at: field.node.at, path: field.path.clone(), kind });
}

fn refuse(fields: &mut Fields<'_>, keys: &[&'static str], kind: &'static str) -> Outcome<()> {
    for key in keys {
        if let Some(field) = fields.take(key) {
            return field.fault(misplaced(key, kind));
        }
    }
    Ok(())
}

const fn misplaced(key: &'static str, kind: &'static str) -> ConfigFault {
    ConfigFault::Misplaced { key, kind }
}

const BY_PROCESS: &str = "with a `command` (type stdio)";
const BY_HTTP: &str = "with a `url` (type http)";

/// Headers that frame a request, or say who asks.
const OUR_HEADERS: &[&str] = &[
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "origin",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

const MAX_COMMAND: usize = 4_096;
const MAX_ARGS: usize = 256;
const MAX_ARG: usize = 8_192;
const MAX_ENV: usize = 128;
const MAX_HEADERS: usize = 32;
const MAX_VALUE: usize = 32_768;
const MAX_URL: usize = 2_048;
