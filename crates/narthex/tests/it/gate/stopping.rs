//! `narthex stop` and `narthex resume`, and the file `STOP`, in front of a house that serves.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use narthex_core::SwitchScope;
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
        assert!(stderr(&twice).contains("nothing is stopped"), "{}", stderr(&twice));
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
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_resume_that_lifts_nothing_says_what_would() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let (agent, space) = (["--agent", "agent-b"], ["--space", "a"]);
    let none: [&str; 0] = [];
    // What is stopped, what is resumed, how it ends, what is said, what to type.
    for (stopped, resumed, code, said, ways) in [
        (vec![], &none[..], 4, "everything is not engaged; nothing is stopped", vec![]),
        (vec![], &agent[..], 4, "agent agent-b is not engaged; nothing is stopped", vec![]),
        (vec![], &["--agent", "nobody"][..], 3, "nobody", vec![]),
        (vec![&agent[..]], &none[..], 4, "what is stopped: agent agent-b", vec!["--agent agent-b"]),
        (vec![&none[..]], &agent[..], 4, "what is stopped: everything", vec!["narthex resume\n"]),
        (
            vec![&agent[..], &space[..]],
            &none[..],
            4,
            "everything is not engaged",
            vec!["narthex resume --agent agent-b", "narthex resume --space a"],
        ),
        (
            vec![&agent[..], &["--server", "web"][..]],
            &["--space", "nowhere"][..],
            3,
            "what is stopped: ",
            vec!["narthex resume --agent agent-b", "narthex resume --server web"],
        ),
    ] {
        for flags in &stopped {
            answer(&[&["stop"], *flags].concat(), dir);
        }
        let output = narthex(&[&["resume"], resumed].concat(), dir);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{resumed:?}: {text}");
        assert!(text.contains(said), "{resumed:?}: {text}");
        assert_eq!(text.contains("try: "), !ways.is_empty(), "{resumed:?}: {text}");
        for way in ways {
            assert!(text.contains(way), "{way}: {text}");
        }
        for flags in &stopped {
            answer(&[&["resume"], *flags].concat(), dir);
        }
    }
    Ok(())
}

/// Nobody could have looked in between.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stop_file_that_is_gone_at_once_has_stopped_everything() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let (path, aside) = (dir.join("STOP"), dir.join("aside"));
    for what in ["created", "linked", "moved"] {
        assert!(may(&house.client(Persona::AgentA)).await?, "{what}");
        std::fs::write(&aside, "")?;
        match what {
            "created" => std::fs::write(&path, "")?,
            "linked" => std::fs::hard_link(&aside, &path)?,
            _ => std::fs::rename(&aside, &path)?,
        }
        std::fs::remove_file(&path)?;
        let start = Instant::now();
        while may(&house.client(Persona::AgentA)).await? {
            assert!(start.elapsed() < Duration::from_secs(5), "{what} stops nothing");
        }
        let stops = answer(&["stop", "--list"], dir);
        assert_eq!(stops["engaged"][0]["by"], "sentinel", "{stops}");
        assert_eq!(stops["stop_file_there"], false);
        answer(&["resume"], dir);
    }
    Ok(())
}

/// Neither the file nor the store keeps it at first; the process does, until the store can.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stop_that_only_the_process_knows_is_made_durable() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let path = house.dir().root().join("STOP");
    house.faults().fail_writing(true);
    std::fs::write(&path, "")?;
    std::fs::remove_file(&path)?;
    let start = Instant::now();
    let everything = SwitchScope::Everything;
    while house.house().gate().stopped().get(&everything).is_none() {
        assert!(start.elapsed() < Duration::from_secs(5), "not heard");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(house.store().switches().await?.get(&everything).is_none());
    house.faults().fail_writing(false);
    while house.store().switches().await?.get(&everything).is_none() {
        assert!(start.elapsed() < Duration::from_secs(10), "not durable");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

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
