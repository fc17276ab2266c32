//! The program: which form is started, and where it lies.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use super::{HttpServer, Script, deeds, echo, stdio};

/// What `hostile` does with its arguments; the code it ends with.
pub async fn run(words: Vec<String>) -> i32 {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["stdio", script] => on_pipes(script).await,
        ["http", script] => over_http(script).await,
        ["echo", "stdio"] => echo::pipes().context("echo"),
        ["echo", "http"] => echo::http().await.context("echo"),
        ["linger", how, pids] => linger(*how == "detached", Path::new(pids)).await,
        _ => Err(anyhow::anyhow!("hostile stdio|http SCRIPT, or hostile echo stdio|http")),
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            deeds::stderr(&format!("{error:#}"), 1);
            1
        }
    }
}

/// Where `hostile` lies: beside the tests that use it. It is built if it is not there.
pub fn program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("this program")?;
    let mut folders = own.ancestors().skip(1).take(2);
    if let Some(found) = folders.clone().map(|at| at.join(NAME)).find(|path| path.is_file()) {
        return Ok(found);
    }
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "narthex-test", "--bin", NAME])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .context("cargo")?;
    match folders.find_map(|at| Some(at.join(NAME)).filter(|path| path.is_file())) {
        Some(found) if built.success() => Ok(found),
        _ => bail!("cargo build -p narthex-test --bin {NAME}"),
    }
}

async fn on_pipes(script: &str) -> anyhow::Result<()> {
    let script = read(script)?;
    let end = Duration::from_millis(script.burns_out_ms);
    let _ = tokio::time::timeout(end, stdio::serve(script)).await;
    Ok(())
}

async fn over_http(script: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    let script = read(script)?;
    let end = Duration::from_millis(script.burns_out_ms);
    let server = HttpServer::start_as(script, true).await?;
    writeln!(std::io::stdout(), "{}", server.url())?;
    tokio::time::sleep(end).await;
    Ok(())
}

fn read(script: &str) -> anyhow::Result<Script> {
    let text = if script.trim_start().starts_with('{') {
        script.to_owned()
    } else {
        std::fs::read_to_string(script).with_context(|| script.to_owned())?
    };
    serde_json::from_str(&text).context("the script")
}

/// A child that stays when it is asked to go.
async fn linger(detach: bool, pids: &Path) -> anyhow::Result<()> {
    deeds::ignore_term();
    if detach {
        rustix::process::setsid().context("setsid")?;
    }
    deeds::append(pids, &format!("{}\n", std::process::id()))?;
    tokio::time::sleep(LINGERS).await;
    Ok(())
}

const NAME: &str = "hostile";
/// A child of a failed test burns out by itself.
const LINGERS: Duration = Duration::from_mins(2);
