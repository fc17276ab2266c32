//! `narthex approvals list --watch`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use narthex_core::Tier;
use narthex_test::TestHouse;
use serde_json::{Value, json};

use super::waiting;
use crate::support::command;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_waits_and_what_comes_is_said_once_each_until_interrupted() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let first = waiting(&house, Tier::T2, json!({"n": 1})).await?;
    let dir = house.dir().root().to_owned();
    let args = ["approvals", "list", "--watch", "--output", "json"];
    let mut child = command(&args, &dir).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut next = || -> anyhow::Result<Value> {
        let line = lines.next().ok_or_else(|| anyhow::anyhow!("it ended"))??;
        Ok(serde_json::from_str(&line)?)
    };
    assert_eq!(next()?["id"], first.id.to_string().as_str());
    let second = waiting(&house, Tier::T3, json!({"n": 2})).await?;
    let said = next()?;
    assert_eq!(said["id"], second.id.to_string().as_str());
    assert!(!said.to_string().contains(&house.house().gate().nonce_of(&second)), "{said}");
    interrupt(&child);
    assert_eq!(child.wait()?.code(), Some(0));
    assert!(next().is_err(), "each is said once");

    let mut child = command(&args[..3], &dir).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let line = lines.next().expect("a line")?;
    assert!(line.starts_with(&first.id.to_string()) && line.contains("asks for post"), "{line}");
    interrupt(&child);
    child.wait()?;
    Ok(())
}

fn interrupt(child: &Child) {
    super::serving::signal(child.id(), rustix::process::Signal::INT);
}
