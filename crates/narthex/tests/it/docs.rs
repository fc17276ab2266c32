//! What README and docs show is run: `sh` blocks as commands in one fresh folder a document, `toml`
//! blocks as settings, `cedar` blocks as policies. Links lead somewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use narthex_policy::PolicyEngine;

use crate::serving::Server;
use crate::support::command;

#[test]
fn commands_in_the_readme_work() -> anyhow::Result<()> {
    run_commands("README.md")
}

#[test]
fn commands_in_the_guide_work() -> anyhow::Result<()> {
    run_commands("docs/guide.md")
}

/// The first block of each of its languages is the file that its commands speak of.
#[test]
fn commands_in_the_graph_document_work() -> anyhow::Result<()> {
    let document = "docs/graph.md";
    let folder = tempfile::tempdir()?;
    for (language, file) in [("pg", "people.pg"), ("gq", "people.gq"), ("ndjson", "people.ndjson")]
    {
        let blocks = blocks(&root().join(document), language)?;
        let first = blocks.first().with_context(|| format!("no {language} in {document}"))?;
        std::fs::write(folder.path().join(file), first)?;
    }
    run_commands_in(document, folder.path())
}

/// The first file it shows is the one that its commands speak of. They start nothing.
#[test]
fn commands_in_the_servers_document_work() -> anyhow::Result<()> {
    let document = "docs/servers.md";
    let folder = tempfile::tempdir()?;
    let files = blocks(&root().join(document), "json")?;
    let first = files.first().with_context(|| format!("no json in {document}"))?;
    std::fs::write(folder.path().join("mcp.json"), first)?;
    run_commands_in(document, folder.path())
}

/// What is shown of programs is run in a demo house, by its agent: to its end, or as the block says.
#[tokio::test(flavor = "multi_thread")]
async fn programs_in_the_document_on_code_mode_run() -> anyhow::Result<()> {
    let document = root().join("docs/code.md");
    let folder = tempfile::tempdir()?;
    let dir = narthex_server::DataDir::at(folder.path().join("house"));
    let server = Server::start(folder.path(), &dir).await?;
    let mut seen = 0;
    for language in ["js", "ts"] {
        for (marked, ends) in [("", "done"), (" pauses", "paused"), (" fails", "failed")] {
            for block in blocks(&document, &format!("{language}{marked}"))? {
                let file = folder.path().join("program");
                std::fs::write(&file, &block)?;
                let args = ["run", "--agent", "demo-agent", "--output", "json"];
                let ran = command(&args, dir.root()).arg(&file).output()?;
                let ran: serde_json::Value = serde_json::from_slice(&ran.stdout)
                    .with_context(|| String::from_utf8_lossy(&ran.stderr).into_owned())?;
                ensure!(ran["status"] == ends, "{block}\n{ran:#}");
                seen += 1;
            }
        }
        for block in blocks(&document, &format!("{language} servers"))? {
            let shaped = narthex_sandbox::shape::shape(&block);
            ensure!(shaped.is_ok(), "{block}\n{shaped:?}");
        }
    }
    ensure!(seen > 4, "no programs in the document");
    drop(server);
    Ok(())
}

#[test]
fn commands_in_the_document_on_code_mode_work() -> anyhow::Result<()> {
    run_commands("docs/code.md")
}

#[test]
fn files_of_servers_in_the_docs_are_accepted() -> anyhow::Result<()> {
    let document = root().join("docs/servers.md");
    for (n, block) in blocks(&document, "json")?.into_iter().enumerate() {
        let file = narthex_servers::config::read(&block, narthex_servers::config::USUAL_SERVERS)
            .with_context(|| format!("{} block {n}", document.display()))?;
        ensure!(file.warnings.is_empty(), "block {n}: {:?}", file.warnings);
    }
    Ok(())
}

#[test]
fn settings_in_the_docs_are_accepted() -> anyhow::Result<()> {
    let mut seen = 0;
    for document in documents()? {
        for (n, block) in blocks(&document, "toml")?.into_iter().enumerate() {
            let folder = tempfile::tempdir()?;
            let file = folder.path().join("narthex.toml");
            std::fs::write(&file, &block)?;
            let loaded = narthex::config::Config::load(&file);
            ensure!(loaded.is_ok(), "{} block {n}: {loaded:?}", document.display());
            seen += 1;
        }
    }
    ensure!(seen > 0, "no settings in the docs");
    Ok(())
}

#[test]
fn policies_in_the_docs_are_valid() -> anyhow::Result<()> {
    let mut seen = 0;
    for document in documents()? {
        for block in blocks(&document, "cedar")? {
            PolicyEngine::with_files(&[("doc.cedar".to_owned(), block)])
                .with_context(|| document.display().to_string())?;
            seen += 1;
        }
    }
    ensure!(seen > 0, "no policies in the docs");
    Ok(())
}

#[test]
fn links_between_documents_lead_somewhere() -> anyhow::Result<()> {
    for document in documents()? {
        let text = std::fs::read_to_string(&document)?;
        for (target, _) in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let target = target.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.ends_with("/other.md") {
                continue;
            }
            if !target.contains('.') && !target.contains('/') {
                continue;
            }
            let path = document.parent().context("a folder")?.join(target);
            let example = text.contains("beds/south.md") && target == "beds/south.md";
            ensure!(example || path.exists(), "{}: {target} leads nowhere", document.display());
        }
    }
    Ok(())
}

fn run_commands(document: &str) -> anyhow::Result<()> {
    run_commands_in(document, tempfile::tempdir()?.path())
}

fn run_commands_in(document: &str, folder: &Path) -> anyhow::Result<()> {
    let script = blocks(&root().join(document), "sh")?.join("\n");
    ensure!(!script.is_empty(), "{document} shows no commands");
    let program = Path::new(env!("CARGO_BIN_EXE_narthex"));
    let programs = program.parent().context("a folder")?.display().to_string();
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(folder)
        .env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"))
        .env("HOME", folder)
        .env_remove("NARTHEX_DATA_DIR")
        .env_remove("NARTHEX_TOKEN")
        .output()
        .context("bash is needed, and curl for the guide")?;
    let said = format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    ensure!(output.status.success(), "{document}: {}\n{said}", output.status);
    Ok(())
}

/// The fenced blocks of a language, in order.
fn blocks(document: &Path, language: &str) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(document)?;
    let mut blocks = Vec::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        match (&mut current, line) {
            (None, line) if line == format!("```{language}") => current = Some(String::new()),
            (Some(_), "```") => blocks.extend(current.take()),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    Ok(blocks)
}

fn documents() -> anyhow::Result<Vec<PathBuf>> {
    let mut documents = vec![
        root().join("README.md"),
        root().join("ARCHITECTURE.md"),
        root().join("CONTRIBUTING.md"),
        root().join("SECURITY.md"),
    ];
    for folder in ["docs", "docs/adr"] {
        for entry in std::fs::read_dir(root().join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    Ok(documents)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
