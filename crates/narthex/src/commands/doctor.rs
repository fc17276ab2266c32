//! `narthex doctor`: looks for what is wrong, and says the way out.

mod around;
mod gate;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use narthex_server::owner::{Reply, Request};
use narthex_server::{DataDir, FollowerStatus};
use serde::Serialize;

use super::ledger::verify::verify;
use super::{once, unexpected};
use crate::cli::{Globals, LedgerVerifyArgs};
use crate::config::Config;
use crate::output::table::{self, Column, Said, bad, fair, good};
use crate::{Context, Exit, Failure, output};

/// Looks for what is wrong.
pub async fn run(context: &Context, globals: &Globals) -> Result<Exit, Failure> {
    let mut findings = vec![version(), gate::user()];
    let (config, read) = settings(context);
    findings.push(config);
    let context = &Context { config: read, output: globals.output, ..context.clone() };
    findings.push(policies(context));
    findings.push(walls());
    findings.push(servers(context));
    findings.push(around::programs(&context.config));
    findings.push(around::egress(&context.config));
    findings.extend(folders(context));
    if DataDir::at(&context.data_dir).has_house() {
        findings.push(ledger(context).await);
        findings.push(around::anchor(context));
        findings.push(gate::stop_file(&DataDir::at(&context.data_dir)));
        let server = server(context).await;
        let answers =
            !server.iter().any(|finding| finding.what == "server" && finding.state == State::Fail);
        findings.extend(server);
        if answers {
            findings.extend(gate::state(context).await);
        }
    }
    print(context, &findings)
}

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    way_out: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, state: State::Ok, found: found.into(), way_out: None }
    }

    fn warn(what: &'static str, found: impl Into<String>, way_out: impl Into<String>) -> Self {
        let way_out = Some(way_out.into());
        Self { what, state: State::Warn, found: found.into(), way_out }
    }

    fn fail(what: &'static str, failure: &Failure) -> Self {
        let found = failure.summary().to_owned();
        Self { what, state: State::Fail, found, way_out: failure.hint.clone() }
    }
}

fn version() -> Finding {
    Finding::ok("version", env!("CARGO_PKG_VERSION"))
}

/// The settings, and what they say; the defaults if they do not read.
fn settings(context: &Context) -> (Finding, Config) {
    let Some(file) = &context.config_file else {
        return (Finding::ok("settings", "no narthex.toml; the defaults hold"), Config::default());
    };
    match Config::load(file) {
        Ok(config) => (Finding::ok("settings", file.display().to_string()), config),
        Err(failure) => (Finding::fail("settings", &failure), Config::default()),
    }
}

fn policies(context: &Context) -> Finding {
    let engine = context.config.policy_files(&context.data_dir).and_then(|files| files.engine());
    match engine {
        Ok(engine) => Finding::ok("policy", format!("{} policies", engine.count())),
        Err(failure) => Finding::fail("policy", &failure),
    }
}

/// What this machine can hold other people's processes to.
fn walls() -> Finding {
    let offer = narthex_walls::probe();
    let whole = narthex_walls::Walls::preset(narthex_walls::Preset::Offline);
    match offer.holds(&whole) {
        Ok(()) => Finding::ok(
            "walls",
            format!("landlock {}, seccomp, a keeper: every preset can be held", offer.landlock),
        ),
        Err(error) => Finding::warn(
            "walls",
            error.to_string(),
            "a server that asks for walls is not started on this machine",
        ),
    }
}

/// The file that names other people's servers.
fn servers(context: &Context) -> Finding {
    let file = crate::servers::file(context, &DataDir::at(&context.data_dir));
    match crate::servers::read(context, &file) {
        Ok(None) => Finding::ok("servers", "no file, so none"),
        Ok(Some(count)) => Finding::ok("servers", format!("{count} in {}", file.display())),
        Err(failure) => Finding::fail("servers", &failure),
    }
}

fn folders(context: &Context) -> Vec<Finding> {
    let dir = DataDir::at(&context.data_dir);
    if !dir.has_house() {
        let missing = Failure::new(Exit::NotFound, format!("no house in {}", dir.root().display()))
            .hint("narthex init");
        return vec![Finding::fail("data directory", &missing)];
    }
    let mut findings = vec![
        mode("data directory", dir.root(), 0o700),
        mode("token key", &dir.token_key(), 0o600),
        mode("ledger key", &dir.ledger_key(), 0o600),
        mode("signing key", &dir.seal_key(), 0o600),
    ];
    findings.push(disk(dir.root()));
    findings
}

/// INVARIANT: nobody but its owner may get at it.
fn mode(what: &'static str, path: &Path, wanted: u32) -> Finding {
    match fs::metadata(path) {
        Err(error) => Finding::fail(what, &Failure::file(path, &error)),
        Ok(found) => match found.permissions().mode() & 0o777 {
            mode if mode & !wanted == 0 => Finding::ok(what, path.display().to_string()),
            mode => {
                let message = format!("{} is open to others (mode {mode:o})", path.display());
                let way_out = format!("chmod {wanted:o} {}", path.display());
                Finding::fail(what, &Failure::new(Exit::Failed, message).hint(way_out))
            }
        },
    }
}

fn disk(path: &Path) -> Finding {
    match rustix::fs::statvfs(path) {
        Err(error) => Finding::warn("disk", error.to_string(), "look at the file system"),
        Ok(found) => {
            let mib = found.f_bavail.saturating_mul(found.f_frsize) / (1024 * 1024);
            let said = format!("{mib} MiB free");
            match mib {
                0..FULL_MIB => {
                    let failure = Failure::new(Exit::Failed, said).hint("make room on the disk");
                    Finding::fail("disk", &failure)
                }
                FULL_MIB..LOW_MIB => Finding::warn("disk", said, "make room on the disk soon"),
                _ => Finding::ok("disk", said),
            }
        }
    }
}

async fn ledger(context: &Context) -> Finding {
    match verify(context, &LedgerVerifyArgs::default(), |_| {}).await {
        Ok(verified) => Finding::ok(
            "ledger",
            format!("{} records, whole, and the rows beside them", verified.records),
        ),
        Err(failure) => Finding::fail("ledger", &failure),
    }
}

/// Whether a server answers, or else whether the house can be opened.
async fn server(context: &Context) -> Vec<Finding> {
    let socket = DataDir::at(&context.data_dir).socket();
    let asked = once(context, Request::Status).await;
    let status = match asked {
        Ok(Reply::Status(status)) => status,
        Ok(_) => return vec![Finding::fail("server", &unexpected())],
        Err(failure) => return vec![Finding::fail("server", &failure)],
    };
    let sessions = around::sessions(&context.config, status.sessions);
    if status.pid == std::process::id() {
        return vec![Finding::ok("server", "not running; the house opens"), sessions];
    }
    let said = format!("{} (pid {}) answers", status.holder, status.pid);
    let mut findings = vec![Finding::ok("server", said), mode("socket", &socket, 0o700), sessions];
    if let Some(url) = status.mcp_url {
        findings.push(Finding::ok("endpoint", url));
    }
    findings.extend(status.followers.iter().map(follower));
    if !(status.store && status.ledger && status.policy) {
        let failure = Failure::new(Exit::Unavailable, "the running server is out of order")
            .hint("narthex status, and the server's log");
        findings.push(Finding::fail("health", &failure));
    }
    findings
}

/// Someone who follows the ledger.
fn follower(one: &FollowerStatus) -> Finding {
    let what = match one.what.as_str() {
        "anchor" => "anchor",
        _ => "second sink",
    };
    match &one.error {
        None => Finding::ok(what, format!("{} records behind", one.behind)),
        Some(error) => {
            let failure = Failure::new(Exit::Unavailable, format!("{}: {error}", one.what))
                .hint("look at the place it writes to; it tries again by itself");
            Finding::fail(what, &failure)
        }
    }
}

fn print(context: &Context, findings: &[Finding]) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(&findings)?;
    } else {
        output::text(table::rows(&COLUMNS, findings.iter().map(row)))?;
    }
    let failed = findings.iter().any(|finding| finding.state == State::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn row(finding: &Finding) -> [Said; 3] {
    let state = match finding.state {
        State::Ok => good("ok"),
        State::Warn => fair("warn"),
        State::Fail => bad("fail"),
    };
    let way_out = finding.way_out.as_ref().map(|way| format!(" (try: {way})"));
    let found = format!("{}{}", finding.found, way_out.unwrap_or_default());
    [state, finding.what.into(), found.into()]
}

/// Less room than this and writing will fail soon; less than that is worth a word.
const FULL_MIB: u64 = 64;
const LOW_MIB: u64 = 1_024;

const COLUMNS: [Column; 3] =
    [Column::Whole("STATE"), Column::Whole("WHAT"), Column::Flows("FOUND")];
