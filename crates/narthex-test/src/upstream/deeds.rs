//! What a process does to the machine it runs on, and what came of it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};

pub(super) fn environment() -> Value {
    let pair = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        (name.to_string_lossy().into_owned(), Value::from(value.to_string_lossy()))
    };
    Value::Object(std::env::vars_os().map(pair).collect::<Map<_, _>>())
}

pub(super) fn read(path: &str) -> Value {
    let tried = match std::fs::metadata(path) {
        Ok(what) if what.is_dir() => names(Path::new(path)),
        _ => std::fs::read(path).map(|bytes| {
            let shown = bytes.get(..SHOWN).unwrap_or(&bytes);
            (bytes.len(), String::from_utf8_lossy(shown).into_owned())
        }),
    };
    match tried {
        Ok((size, text)) => json!({"path": path, "read": true, "size": size, "text": text}),
        Err(error) => json!({"path": path, "read": false, "why": error.to_string()}),
    }
}

fn names(folder: &Path) -> std::io::Result<(usize, String)> {
    let names = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<Vec<_>>>()?;
    Ok((names.len(), names.join("\n")))
}

pub(super) fn write(path: &str) -> Value {
    match std::fs::write(path, "was here\n") {
        Ok(()) => json!({"path": path, "written": true}),
        Err(error) => json!({"path": path, "written": false, "why": error.to_string()}),
    }
}

pub(super) async fn connect(to: &str) -> Value {
    let trying = tokio::time::timeout(Duration::from_secs(3), TcpStream::connect(to));
    match trying.await {
        Ok(Ok(mut stream)) => {
            let _ = stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await;
            json!({"to": to, "connected": true})
        }
        Ok(Err(error)) => json!({"to": to, "connected": false, "why": error.to_string()}),
        Err(_) => json!({"to": to, "connected": false, "why": "nothing came"}),
    }
}

/// Starts children that stay and hold its pipes open; each writes its pid when nothing asks it to go
/// any more.
pub(super) async fn fork(count: usize, pids: &Path, detach: bool) -> anyhow::Result<Value> {
    let program = super::program()?;
    let there = || std::fs::read_to_string(pids).unwrap_or_default().lines().count();
    let (mut started, before) = (Vec::new(), there());
    for _ in 0..count {
        let mut command = Command::new(&program);
        command.args(["linger", if detach { "detached" } else { "attached" }]).arg(pids);
        started.push(command.stdin(Stdio::null()).spawn().context("a child")?.id());
    }
    for _ in 0..500 {
        if there() >= before + count {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(json!(started))
}

pub(super) fn append(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let mut file = file.with_context(|| path.display().to_string())?;
    Ok(file.write_all(text.as_bytes())?)
}

/// SIGTERM does nothing from here on.
pub(super) fn ignore_term() {
    // The handler stays when the stream is dropped.
    let _ = signal(SignalKind::terminate());
}

pub(super) fn stderr(text: &str, times: u64) {
    use std::io::Write as _;
    let mut stderr = std::io::stderr().lock();
    for _ in 0..times {
        if writeln!(stderr, "{text}").is_err() {
            return;
        }
    }
}

/// How much of a file is told.
const SHOWN: usize = 4096;
