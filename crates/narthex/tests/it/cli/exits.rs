//! How commands end, and where they say what.

use serde_json::Value;

use crate::support::{narthex, stderr, stdout};

#[test]
fn exit_codes_have_names_and_standard_output_stays_empty() {
    let dir = tempfile::tempdir().expect("a folder");
    let nowhere = dir.path().join("nowhere");
    let config = dir.path().join("bad.toml");
    std::fs::write(&config, "lisen = 1\n").expect("a file");
    let config = config.to_str().expect("UTF-8");
    for (args, code, name) in [
        (vec!["frobnicate"], 2, "usage"),
        (vec!["space", "add"], 2, "usage"),
        (vec!["token", "create", "a", "--expires", "soon"], 2, "usage"),
        (vec!["agent", "add", "a", "--ceiling", "T9"], 2, "usage"),
        (vec!["stdio"], 2, "usage"),
        (vec!["stdio", "--agent", "a", "--companion"], 2, "usage"),
        (vec!["stdio", "--agent", "a", "--space", "b"], 2, "usage"),
        (vec!["ledger", "tail", "-n", "0"], 2, "usage"),
        (vec!["inbox", "list", "-n", "0"], 2, "usage"),
        (vec!["approvals", "list", "-n", "0"], 2, "usage"),
        (vec!["conversation", "list", "-n", "0"], 2, "usage"),
        (vec!["page", "list", "--space", "a", "-n", "0"], 2, "usage"),
        (vec!["space", "list", "--config", config], 2, "usage"),
        (vec!["space", "list", "--config", "missing.toml"], 3, "not_found"),
        (vec!["page", "import", "missing", "--space", "a"], 3, "not_found"),
    ] {
        let mut args = args;
        let people = narthex(&args, &nowhere);
        assert_eq!(people.status.code(), Some(code), "{args:?}: {}", stderr(&people));
        assert!(stderr(&people).starts_with("error: "), "{args:?}: {}", stderr(&people));
        assert_eq!(stdout(&people), "", "{args:?}");

        args.extend(["--output", "json"]);
        let script = narthex(&args, &nowhere);
        assert_eq!(script.status.code(), Some(code), "{args:?}");
        assert_eq!(stdout(&script), "", "{args:?}");
        let said: Value = serde_json::from_slice(&script.stderr).expect("one JSON document");
        assert_eq!(said["error"]["code"], name, "{args:?}");
        assert!(said["error"]["message"].as_str().is_some_and(|m| !m.contains('\n')), "{said}");
    }
    assert!(!nowhere.exists(), "a failed command made the data directory");
}

#[test]
fn global_options_stand_before_or_after_the_command() {
    let dir = tempfile::tempdir().expect("a folder");
    let before = narthex(&["--output", "json", "policy", "check"], dir.path());
    let after = narthex(&["policy", "check", "--output", "json"], dir.path());
    assert_eq!(stdout(&before), stdout(&after));
    let table = narthex(&["policy", "check", "--output", "table"], dir.path());
    assert!(stdout(&table).starts_with("ok: "), "{}", stdout(&table));
}

#[test]
fn completions_are_printed_for_each_shell() {
    let dir = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = narthex(&["completions", shell], dir.path());
        assert!(output.status.success() && stdout(&output).contains("narthex"), "{shell}");
    }
}

#[test]
fn a_policy_that_is_wrong_is_shown_at_its_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("policies");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("mine.cedar"), "// mine\npermit(principal, action, resource)\n")
        .expect("a file");
    let output = narthex(&["policy", "check"], dir.path());
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.starts_with("error: mine.cedar:2:36: "), "{said}");
    assert!(said.contains("╭─[mine.cedar:"), "{said}");
    assert!(said.contains("try: "), "{said}");
    let named = folder.to_str().expect("UTF-8").to_owned();
    assert_eq!(
        narthex(&["policy", "check", "--folder", &named], dir.path()).status.code(),
        Some(1)
    );
    let missing = narthex(&["policy", "check", "--folder", "missing"], dir.path());
    assert_eq!(missing.status.code(), Some(3), "{}", stderr(&missing));
}

#[test]
fn the_standard_policy_that_is_printed_is_a_policy_and_so_is_its_schema() {
    let dir = tempfile::tempdir().expect("a folder");
    let standard = narthex(&["policy", "check", "--standard"], dir.path());
    assert!(stdout(&standard).contains("permit"));
    let schema = narthex(&["policy", "check", "--schema"], dir.path());
    assert!(stdout(&schema).contains("entity"));
}

#[test]
fn doctor_says_what_is_wrong_and_the_way_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path().join("house");
    let empty = narthex(&["doctor"], &home);
    assert_eq!(empty.status.code(), Some(1));
    assert!(stdout(&empty).contains("narthex init"), "{}", stdout(&empty));
    assert!(!home.exists(), "doctor made the data directory");

    std::fs::create_dir(&home).expect("a folder");
    std::fs::write(home.join("narthex.toml"), "[limits]\nconections = 3\n").expect("a file");
    let output = narthex(&["doctor", "--output", "json"], &home);
    assert_eq!(output.status.code(), Some(1));
    let findings: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let settings = findings.as_array().expect("a list").iter().find(|f| f["what"] == "settings");
    let settings = settings.expect("the settings");
    assert_eq!(settings["state"], "fail");
    assert!(settings["found"].as_str().is_some_and(|s| s.contains("conections")), "{settings}");
}
