//! Settings that are wrong are refused with their place and the way out.

use narthex::Exit;
use narthex::config::{Config, LogFormat, LogLevel};

#[test]
fn what_is_wrong_is_named_with_line_and_column() {
    for (text, message, hint) in [
        ("lisen = 1", "x:1:1: unknown key `lisen`; did you mean `listen`?", "write listen"),
        (
            "\n[listn]\nport = 1",
            "x:2:2: unknown key `listn`; did you mean `listen`?",
            "write listen",
        ),
        (
            "[listen]\nadress = 'a'",
            "x:2:1: unknown key `listen.adress`; did you mean `address`?",
            "write listen.address",
        ),
        (
            "[listen]\nport = 7377",
            "x:2:1: unknown key `listen.port`",
            "the keys here are address, hosts",
        ),
        ("listen.prot = 1", "x:1:8: unknown key `listen.prot`", "the keys here are"),
        (
            "[limits]\nbody_secnds = 1",
            "x:2:1: unknown key `limits.body_secnds`; did you mean `body_seconds`?",
            "write limits.body_seconds",
        ),
        ("frobnicate = true", "x:1:1: unknown key `frobnicate`", "the keys here are mode, listen"),
        ("[log]\nlevel = 'info'\nfile = 'x'", "x:3:1: unknown key `log.file`", "level, format"),
        ("[limits]\nconnections = 0", "x:2:15: limits.connections must be from 1 to 65536", ""),
        ("[limits]\nconnections = -4", "x:2:15: limits.connections must be from 1 to 65536", ""),
        ("[limits]\nconnections = 65537", "x:2:15: limits.connections must be from 1 to 65536", ""),
        (
            "[limits]\nbody_bytes = 99999999999999999999999999",
            "x:2:14: limits.body_bytes must be from 1024 to 268435456",
            "",
        ),
        ("[limits]\nbody_bytes = 0x10", "x:2:14: limits.body_bytes must be from", ""),
        ("limits = { call_seconds = 0 }", "x:1:27: limits.call_seconds must be from 1 to 3600", ""),
        ("[store]\nreaders = 0", "x:2:11: store.readers must be from 1 to 64", ""),
        (
            "[limits]\nrequests_per_minute = 0",
            "x:2:23: limits.requests_per_minute must be from",
            "",
        ),
        (
            "[approvals]\nwait = 5",
            "x:2:1: unknown key `approvals.wait`",
            "wait_seconds, valid_seconds",
        ),
        ("[approvals]\nvalid_seconds = 0", "x:2:17: approvals.valid_seconds must be from 1", ""),
        ("[approvals]\nwrong_nonces = 0", "x:2:16: approvals.wrong_nonces must be from 1", ""),
        ("[budget]\nt0 = -1", "x:2:6: budget.t0 must be from 0 to", ""),
        ("[budget]\nbytes = '1GB'", "x:2:9: invalid type: string", ""),
        ("[budget]\ncost = -1.0", "x:2:8: a cost is a finite number", ""),
        ("[budget]\ncost = nan", "x:2:8: a cost is a finite number", ""),
        ("[budget]\ncost = inf", "x:2:8: a cost is a finite number", ""),
        ("[budget]\ncost = 1e308", "x:2:8: a cost is a finite number", ""),
        (
            "[budget]\nwindow_seconds = 2678401",
            "x:2:18: budget.window_seconds must be from 1 to 2678400",
            "",
        ),
        ("[taint]\nwindow_seconds = 0", "x:2:18: taint.window_seconds must be from 60", ""),
        ("[sessions]\nper_agent = 0", "x:2:13: sessions.per_agent must be from 1 to 1000", ""),
        (
            "[sessions]\nidle_seconds = 100\nabsolute_seconds = 99",
            "x: sessions.idle_seconds is longer than sessions.absolute_seconds",
            "the earlier of the two",
        ),
        ("[egress]\nallow = 'a'", "x:2:9: invalid type: string", ""),
        ("[limits]\nconnections = '5'", "x:2:15: invalid type: string \"5\"", ""),
        ("[limits]\nconnections = 1.5", "x:2:15: invalid type: floating point", ""),
        (
            "mode = 'wild'",
            "x:1:8: unknown variant `wild`, expected one of `readonly`, `guarded`, `open`",
            "",
        ),
        ("[log]\nlevel = 'loud'", "x:2:9: unknown variant `loud`", ""),
        ("[listen]\naddress = 'localhost'", "x:2:11: invalid socket address", ""),
        ("[listen]\nhosts = 'a'", "x:2:9: invalid type: string \"a\"", ""),
        ("listen = 5", "x:1:10: invalid type: integer `5`", ""),
        ("mode = 'open'\nmode = 'open'", "x:2:1: duplicate key", ""),
        ("mode = ", "x:1:8: ", ""),
        (
            "[listen]\ntls_key = 'k.pem'",
            "x: listen.tls_certificate and listen.tls_key go together",
            "set both",
        ),
        (
            "[listen]\ntls_key='k'\ntls_certificate='c'\nbehind_tls_proxy=true",
            "x: listen.behind_tls_proxy and",
            "say who ends TLS",
        ),
        (
            "[listen]\naddress = '0.0.0.0:80'",
            "x: listen.address 0.0.0.0:80 is not loopback",
            "reachable_from_outside = true",
        ),
        (
            "[listen]\naddress = '[::]:80'\nreachable_from_outside = true",
            "x: listen.address [::]:80 is not loopback, and there is no TLS",
            "tls_certificate",
        ),
        (
            "[listen]\naddress = '10.0.0.1:80'\nreachable_from_outside = true\nbehind_tls_proxy = true",
            "x: listen.address 10.0.0.1:80 is not loopback, and listen.hosts is empty",
            "listen.hosts",
        ),
    ] {
        let failure = Config::parse("x", text).expect_err(text);
        assert_eq!(failure.exit, Exit::Usage, "{text}");
        assert!(failure.summary().starts_with(message), "{text}\n{}", failure.message);
        let said = failure.hint.unwrap_or_default();
        assert!(said.contains(hint), "{text}\n{said}");
    }
}

#[test]
fn the_place_is_drawn() {
    let failure = Config::parse("narthex.toml", "mode = \"open\"\n[limits]\nconections = 3\n")
        .expect_err("a wrong key");
    assert_eq!(
        failure.message,
        "narthex.toml:3:1: unknown key `limits.conections`; did you mean `connections`?\n   \
         ╭─[narthex.toml:3:1]\n \
         2 │ [limits]\n \
         3 │ conections = 3\n   \
         · ─────┬────\n   \
         ·      ╰── did you mean `connections`?\n   \
         ╰────"
    );
}

#[test]
fn what_is_right_is_taken_and_the_rest_stays_as_it_was() {
    let text = "mode = 'readonly'\n[limits]\ncall_seconds = 5\nopen_proposals = 7\n\
                [log]\nlevel = 'debug'\nformat = 'json'\n[store]\nreaders = 2";
    let config = Config::parse("x", text).expect("it reads");
    assert_eq!((config.log.level, config.log.format), (LogLevel::Debug, LogFormat::Json));
    assert_eq!(config.gate().call_deadline.as_secs(), 5);
    assert_eq!(config.gate().mode.as_str(), "readonly");
    assert_eq!(config.gate().requests_per_minute, 120);
    assert_eq!(config.workspace().open_proposals, 7);
    assert_eq!(Config::parse("x", ""), Ok(Config::default()));
}

#[test]
fn the_gate_is_told_what_the_settings_say() {
    let text = "[approvals]\nwait_seconds = 60\nvalid_seconds = 30\nwaiting = 2\nwrong_nonces = 1\n\
                [budget]\nwindow_seconds = 60\nt0 = 1\nt1 = 2\nt2 = 3\nt3 = 0\nbytes = 5\n\
                time_seconds = 6\ncost = 2.5\n[taint]\nwindow_seconds = 600\n\
                [sessions]\nenabled = true\nidle_seconds = 10\nabsolute_seconds = 20\nper_agent = 3\n\
                [ledger]\nkeep_values = true\n[egress]\nallow = ['a.internal:8443']\nallow_loopback = true";
    let config = Config::parse("x", text).expect("it reads");
    let gate = config.gate();
    assert_eq!((gate.approval_wait.as_secs(), gate.approval_valid.as_secs()), (60, 30));
    assert_eq!((gate.approvals_waiting, gate.wrong_nonces), (2, 1));
    assert_eq!(gate.budget.calls, [Some(1), Some(2), Some(3), Some(0)]);
    assert_eq!((gate.budget.window_seconds, gate.budget.bytes), (60, Some(5)));
    assert_eq!(gate.budget.millis, Some(6_000));
    assert_eq!(gate.budget.cost.map(narthex_core::Cost::millionths), Some(2_500_000));
    assert_eq!(gate.taint_window.map(|window| window.as_secs()), Some(600));
    let sessions = gate.sessions.expect("kept");
    assert_eq!((sessions.idle.as_secs(), sessions.absolute.as_secs()), (10, 20));
    assert_eq!(sessions.per_agent, 3);
    assert!(gate.keep_values && config.egress.allow_loopback);
    assert_eq!(config.egress.allow, ["a.internal:8443"]);
    assert!(Config::default().gate().sessions.is_none(), "legacy sessions are off");
}

#[test]
fn leaving_loopback_takes_three_decisions_on_the_command_line_too() {
    let outside = "0.0.0.0:7377".parse().expect("an address");
    assert!(Config::default().listening_at(outside).is_err());
    let inside = "[::1]:0".parse().expect("an address");
    assert_eq!(Config::default().listening_at(inside).map(|c| c.listen.address), Ok(inside));
    let text =
        "[listen]\nreachable_from_outside = true\nbehind_tls_proxy = true\nhosts = ['a.example']";
    let decided = Config::parse("x", text).expect("it reads");
    assert!(decided.listening_at(outside).is_ok());
}

#[test]
fn the_defaults_agree_with_those_of_the_crates_they_are_for() {
    let (ours, gate) = (Config::default().gate(), narthex_gate::GateConfig::default());
    assert_eq!(format!("{ours:?}"), format!("{gate:?}"));
    let (ours, workspace) =
        (Config::default().workspace(), narthex_workspace::WorkspaceConfig::default());
    assert_eq!(format!("{ours:?}"), format!("{workspace:?}"));
}

#[test]
fn a_host_that_is_none_opens_no_house() {
    for (allow, good) in [
        ("'a.internal:8443', '10.0.0.7'", true),
        ("'https://a.internal/'", false),
        ("'*.internal'", false),
        ("'a.internal:0'", false),
        ("''", false),
    ] {
        let text = format!("[egress]\nallow = [{allow}]");
        let config = Config::parse("x", &text).expect("it reads");
        assert_eq!(config.egress.policy().is_ok(), good, "{allow}");
        let folder = tempfile::tempdir().expect("a folder");
        assert!(crate::support::narthex(&["init"], folder.path()).status.success());
        std::fs::write(folder.path().join("narthex.toml"), text).expect("settings");
        let listed = crate::support::narthex(&["space", "list"], folder.path());
        assert_eq!(listed.status.success(), good, "{allow}");
        assert_eq!(crate::support::stderr(&listed).contains("egress"), !good, "{allow}");
    }
}
