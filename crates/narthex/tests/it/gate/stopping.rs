//! `narthex stop` and `narthex resume`, and the file `STOP`, in front of a house that serves.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use narthex_server::owner::{Kept, Reply, Request, StopScope, SwitchRequest};
use narthex_test::{Client, Persona, TestHouse};
use serde_json::json;

use crate::support::{answer, narthex, stderr, stdout};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_scope_is_stopped_until_it_is_resumed_and_no_other_is() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    // What is stopped, and which of an agent in a and one in b may still call.
    for (flags, name, a, b) in [
        (vec![], json!(null), false, false),
        (vec!["--space", "a"], json!("a"), false, true),
        (vec!["--agent", "agent-b"], json!("agent-b"), true, false),
        (vec!["--server", "web"], json!("web"), true, true),
    ] {
        let stopped = answer(&[&["stop"], &flags[..]].concat(), dir);
        assert_eq!((&stopped["name"], &stopped["kept"]), (&name, &json!("store")), "{flags:?}");
        assert_eq!(stopped["now"], true);
        let again = answer(&[&["stop", "--reason", "again"], &flags[..]].concat(), dir);
        assert_eq!(again["now"], false, "{flags:?}");
        assert_eq!(may(&house.client(Persona::AgentA)).await?, a, "{flags:?}");
        assert_eq!(may(&house.client(Persona::AgentB)).await?, b, "{flags:?}");
        let shown = stdout(&narthex(&["stop", "--list"], dir));
        assert!(shown.contains(name.as_str().unwrap_or("everything")), "{shown}");
        let resumed = answer(&[&["resume"], &flags[..]].concat(), dir);
        assert_eq!(resumed["still"], json!([]), "{flags:?}");
        assert!(may(&house.client(Persona::AgentA)).await?, "{flags:?}");
        let twice = narthex(&[&["resume"], &flags[..]].concat(), dir);
        assert_eq!(twice.status.code(), Some(4), "{}", stderr(&twice));
        assert!(stderr(&twice).contains("narthex stop --list"), "{}", stderr(&twice));
    }
    let wrong: [(&[&str], i32); 4] = [
        (&["--agent", "nobody"], 3),
        (&["--space", "nowhere"], 3),
        (&["--server", "Not A Slug"], 2),
        (&["--agent", "agent-a", "--space", "a"], 2),
    ];
    for (flags, code) in wrong {
        for verb in ["stop", "resume"] {
            let output = narthex(&[&[verb], flags].concat(), dir);
            assert_eq!(output.status.code(), Some(code), "{verb} {flags:?}: {}", stderr(&output));
        }
    }
    assert!(!house.dir().stop_file().is_there(), "a wrong name is no emergency");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_lies_there_stops_everything_and_taking_it_away_lifts_nothing()
-> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let path = dir.join("STOP");
    let make = |what: &str| match what {
        "a folder" => std::fs::create_dir(&path),
        "a link to nowhere" => symlink("/nowhere", &path),
        "mode 000" => std::fs::write(&path, "")
            .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o000))),
        _ => std::fs::write(&path, ""),
    };
    for what in ["a file", "mode 000", "a folder", "a link to nowhere"] {
        assert!(may(&house.client(Persona::AgentA)).await?, "{what}");
        make(what)?;
        let start = Instant::now();
        while may(&house.client(Persona::AgentA)).await? {
            assert!(start.elapsed() < Duration::from_secs(5), "{what} stops nothing");
        }
        let health = health_of(&house).await?;
        assert!(
            health.starts_with("HTTP/1.1 200") && health.contains("\"stopped\":true"),
            "{health}"
        );
        let early = narthex(&["resume"], dir);
        assert_eq!(early.status.code(), Some(4), "{what}: {}", stderr(&early));
        assert!(stderr(&early).contains("still there"), "{}", stderr(&early));
        if what == "a folder" {
            std::fs::remove_dir(&path)?;
        } else {
            std::fs::remove_file(&path)?;
        }
        tokio::time::sleep(Duration::from_millis(120)).await;
        assert!(!may(&house.client(Persona::AgentA)).await?, "{what}: taken away");
        let engaged = answer(&["stop", "--list"], dir);
        assert_eq!(engaged["engaged"][0]["by"], "sentinel", "{what}");
        answer(&["resume"], dir);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_the_store_cannot_keep_the_file_keeps() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    house.faults().fail_writing(true);
    let scope = StopScope::Agent("agent-b".to_owned());
    let engage = Request::Switch(SwitchRequest::Engage { scope, reason: None });
    let Reply::Stopped(stopped) = house.owner(engage).await? else { anyhow::bail!("not stopped") };
    let path = house.dir().stop_file().path().display().to_string();
    assert_eq!(stopped.kept, Kept::StopFile(path.clone()));
    assert!(house.dir().stop_file().is_there());
    let said = narthex(&["stop"], house.dir().root());
    assert!(said.status.success() && stderr(&said).contains(&path), "{}", stderr(&said));
    let everything = narthex_core::SwitchScope::Everything;
    assert!(house.house().gate().stopped().get(&everything).is_some());
    house.faults().fail_writing(false);
    Ok(())
}

/// Whether an agent may call now.
async fn may(client: &Client) -> anyhow::Result<bool> {
    let answer = client.call("search", json!({"query": "welcome"})).await?;
    Ok(answer.is_ok())
}

async fn health_of(house: &TestHouse) -> anyhow::Result<String> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(house.address()).await?;
    let host = house.address();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}
