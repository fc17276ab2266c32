//! `ledger verify`, `export`, `prove`, `prune` and the rest, without a server.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{answer, narthex, stderr, stdout};

#[test]
fn a_whole_ledger_verifies_and_its_export_is_what_is_stored() {
    let house = house();
    let verified = answer(&["ledger", "verify"], house.path());
    assert_eq!(verified["ok"], true);
    let lines = stdout(&narthex(&["ledger", "export"], house.path()));
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(Value::from(lines.len()), verified["records"]);
    let last = lines.last().expect("a record");
    assert_eq!(last["hash"], verified["head"]);
    assert!(last["record"].as_str().is_some_and(|text| text.contains("space.add")), "{last}");

    let file = house.path().join("export.jsonl");
    let to = file.to_str().expect("UTF-8");
    assert_eq!(answer(&["ledger", "export", "--from", "2", "--to", to], house.path())["from"], 2);
    let again = narthex(&["ledger", "export", "--to", to], house.path());
    assert_eq!(again.status.code(), Some(4), "{}", stderr(&again));
}

#[test]
fn a_ledger_that_was_touched_is_broken_and_says_so_with_its_own_exit_code() {
    for (how, touch) in [
        ("a changed word", change_a_word as fn(&Path)),
        ("no head file", |dir| fs::remove_file(dir.join("ledger.head")).expect("the head file")),
        ("no database", |dir| fs::remove_file(dir.join("narthex.db")).expect("the database")),
        ("no database at all", |dir| fs::write(dir.join("narthex.db"), b"x").expect("a file")),
    ] {
        let house = house();
        touch(house.path());
        let output = narthex(&["ledger", "verify", "--output", "json"], house.path());
        assert_eq!(output.status.code(), Some(6), "{how}: {}", stderr(&output));
        assert!(stderr(&output).contains("\"code\":\"ledger_broken\""), "{how}");
        assert_eq!(stdout(&output), "", "{how}");
    }
}

#[test]
fn nothing_is_served_from_a_ledger_that_was_touched() {
    let house = house();
    change_a_word(house.path());
    let output = narthex(&["serve", "--listen", "127.0.0.1:0"], house.path());
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert!(stderr(&output).contains("the ledger is not whole"), "{}", stderr(&output));
}

#[test]
fn verifying_makes_nothing_where_there_is_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let nowhere = dir.path().join("nowhere");
    let output = narthex(&["ledger", "verify"], &nowhere);
    assert!(!output.status.success() && !nowhere.exists(), "{}", stderr(&output));
}

#[test]
fn a_proof_is_checked_with_the_public_key_alone() {
    let house = house();
    let nowhere = tempfile::tempdir().expect("a folder");
    let (proof, key) = (nowhere.path().join("proof.json"), nowhere.path().join("house.pub"));
    let (proof, key) = (proof.to_str().expect("UTF-8"), key.to_str().expect("UTF-8"));
    let vkey = stdout(&narthex(&["ledger", "key"], house.path()));
    fs::write(key, &vkey).expect("the key");
    let proven = narthex(&["ledger", "prove", "2", "--out", proof], house.path());
    assert!(proven.status.success(), "{}", stderr(&proven));
    for named in [key, vkey.trim()] {
        let check = ["ledger", "check-proof", proof, "--public-key", named];
        let checked = answer(&check, &nowhere.path().join("no house"));
        assert_eq!((&checked["ok"], &checked["seq"]), (&Value::Bool(true), &Value::from(2)));
    }
    let without = narthex(&["ledger", "check-proof", proof], &nowhere.path().join("no house"));
    assert_eq!(without.status.code(), Some(2), "{}", stderr(&without));
    // Neither another record nor another house's key passes.
    let text = fs::read_to_string(proof).expect("the proof");
    let other = stdout(&narthex(&["ledger", "key"], self::house().path()));
    fs::write(proof, text.replace("\\\"ok\\\"", "\\\"no\\\"")).expect("the proof");
    for named in [vkey.trim(), other.trim()] {
        let check = ["ledger", "check-proof", proof, "--public-key", named];
        let checked = narthex(&check, nowhere.path());
        assert_eq!(checked.status.code(), Some(6), "{}", stderr(&checked));
        fs::write(proof, &text).expect("the proof");
    }
    let none = narthex(&["ledger", "prove", "99"], house.path());
    assert_eq!(none.status.code(), Some(3), "{}", stderr(&none));
}

#[test]
fn that_a_ledger_only_grew_is_checked_with_the_public_key_alone() {
    let (house, away) = (house(), folder());
    let kept = |name: &str, dir: &Path| {
        let path = away.path().join(name);
        fs::write(&path, stdout(&narthex(&["ledger", "checkpoint"], dir))).expect("kept");
        path.to_str().expect("UTF-8").to_owned()
    };
    let (older, forked) = (folder(), folder());
    copy(house.path(), older.path());
    copy(house.path(), forked.path());
    let early = kept("early", house.path());
    answer(&["space", "add", "more"], house.path());
    answer(&["space", "add", "other"], forked.path());
    let (late, fork) = (kept("late", house.path()), kept("fork", forked.path()));
    fill(house.path(), 300);
    let proof = away.path().join("grown.json").to_str().expect("UTF-8").to_owned();
    for since in [&late, &early] {
        let _ = fs::remove_file(&proof);
        let proven = narthex(&["ledger", "prove", "--since", since, "--out", &proof], house.path());
        assert!(proven.status.success(), "{}", stderr(&proven));
    }
    let (key, nowhere) =
        (stdout(&narthex(&["ledger", "key"], house.path())), away.path().join("x"));
    let check = ["ledger", "check-proof", &proof, "--public-key", key.trim()];
    for more in [&[][..], &["--since", &early]] {
        let checked = answer(&[&check[..], more].concat(), &nowhere);
        assert_eq!(checked["ok"], true);
        assert!(checked["old"]["size"].as_u64() < checked["new"]["size"].as_u64(), "{checked}");
    }
    // It begins where the one who checks stood, or it proves nothing to them.
    for (since, code) in [(&late, 6), (&fork, 6), (&proof, 6), (&format!("{proof}.x"), 3)] {
        let told = narthex(&[&check[..], &["--since", since]].concat(), &nowhere);
        assert_eq!(told.status.code(), Some(code), "{since}: {}", stderr(&told));
    }
    // Neither another path, nor other checkpoints, nor another house's key passes.
    let text = fs::read_to_string(&proof).expect("the proof");
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let first = whole["path"][0].as_str().expect("a hash");
    let fork_note = Value::from(fs::read_to_string(&fork).expect("a checkpoint"));
    let mut turned = whole.clone();
    (turned["old"], turned["new"]) = (whole["new"].clone(), whole["old"].clone());
    let mut another = whole.clone();
    another["old"] = fork_note;
    for tampered in [
        text.replace(first, &"0".repeat(64)),
        text.replace("consistency", "inclusion"),
        turned.to_string(),
        another.to_string(),
        "{}".to_owned(),
    ] {
        fs::write(&proof, tampered).expect("the proof");
        let told = narthex(&check, &nowhere);
        assert_eq!(told.status.code(), Some(6), "{}", stderr(&told));
    }
    fs::write(&proof, text).expect("the proof");
    let other = stdout(&narthex(&["ledger", "key"], self::house().path()));
    let told = narthex(&["ledger", "check-proof", &proof, "--public-key", other.trim()], &nowhere);
    assert_eq!(told.status.code(), Some(6), "{}", stderr(&told));
    // A ledger that does not continue it makes no proof.
    for (dir, since, word) in [
        (older.path(), &late, "rolled back"),
        (house.path(), &fork, "disagree"),
        (self::house().path(), &early, "another key"),
    ] {
        let told = narthex(&["ledger", "prove", "--since", since], dir);
        assert_eq!(told.status.code(), Some(6), "{}", stderr(&told));
        assert!(stderr(&told).contains(word), "{}", stderr(&told));
    }
    for wrong in [&["ledger", "prove"][..], &["ledger", "prove", "2", "--since", &early]] {
        assert_eq!(narthex(wrong, house.path()).status.code(), Some(2));
    }
}

#[test]
fn since_records_that_were_taken_out_there_is_only_their_segment() {
    let (house, away) = (house(), folder());
    let (note, segment) = (away.path().join("note"), away.path().join("old.segment"));
    let (note, segment) = (note.to_str().expect("UTF-8"), segment.to_str().expect("UTF-8"));
    fs::write(note, stdout(&narthex(&["ledger", "checkpoint"], house.path()))).expect("kept");
    fill(house.path(), 270);
    answer(&["ledger", "prune", "--before", "260", "--export", segment], house.path());
    let gone = narthex(&["ledger", "prove", "--since", note], house.path());
    assert_eq!(gone.status.code(), Some(3), "{}", stderr(&gone));
    assert!(stderr(&gone).contains("--segment <FILE> --anchor"), "{}", stderr(&gone));
    let held = ["ledger", "verify", "--segment", segment, "--anchor", note];
    assert_eq!(answer(&held, house.path())["anchors"], 1);
    fs::write(note, stdout(&narthex(&["ledger", "checkpoint"], house.path()))).expect("kept");
    let grown = answer(&["ledger", "prove", "--since", note], house.path());
    assert_eq!(grown["format"], "narthex-consistency-proof-v1");
}

#[test]
fn an_older_copy_is_told_by_an_anchor_and_by_an_expected_head() {
    let house = house();
    let older = tempfile::tempdir().expect("a folder");
    copy(house.path(), older.path());
    answer(&["space", "add", "more"], house.path());
    let anchor = house.path().join("anchor.note");
    fs::write(&anchor, stdout(&narthex(&["ledger", "checkpoint"], house.path()))).expect("kept");
    let anchor = anchor.to_str().expect("UTF-8").to_owned();
    let now = answer(&["ledger", "verify"], house.path());
    let root = now["root"].as_str().expect("a root");
    let expected = format!("{}:{root}", now["records"]);
    for against in [["--anchor", &anchor], ["--expect-head", &expected]] {
        let verify = ["ledger", "verify", against[0], against[1]];
        assert_eq!(answer(&verify, house.path())["anchors"], 1);
        let told = narthex(&verify, older.path());
        assert_eq!(told.status.code(), Some(6), "{}", stderr(&told));
        assert!(stderr(&told).contains("rolled back"), "{}", stderr(&told));
    }
    assert_eq!(answer(&["ledger", "verify"], older.path())["ok"], true, "nothing else tells");
    let wrong = narthex(&["ledger", "verify", "--expect-head", "12"], house.path());
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
}

#[test]
fn old_records_go_into_a_file_that_verifies_alone() {
    let house = house();
    fill(house.path(), 270);
    let file = house.path().join("old.segment");
    let path = file.to_str().expect("UTF-8");
    let young = narthex(&["ledger", "prune", "--before", "1d", "--export", path], house.path());
    assert_eq!(young.status.code(), Some(3), "nothing is that old: {}", stderr(&young));
    assert!(!file.exists());
    let pruned = answer(&["ledger", "prune", "--before", "260", "--export", path], house.path());
    assert_eq!((&pruned["from"], &pruned["to"]), (&Value::from(1), &Value::from(256)));
    let left = answer(&["ledger", "verify"], house.path());
    assert_eq!((&left["ok"], &left["base"]), (&Value::Bool(true), &Value::from(256)));
    let went = answer(&["ledger", "verify", "--segment", path], house.path());
    assert_eq!((&went["ok"], &went["records"]), (&Value::Bool(true), &Value::from(256)));
    let last = answer(&["ledger", "tail", "-n", "1"], house.path());
    assert_eq!(last[0]["tool"], "ledger.prune");
    let sha256 = last[0]["subject"]["digest"].as_str().expect("a digest");
    let gone = narthex(&["ledger", "prove", "256"], house.path());
    assert_eq!(gone.status.code(), Some(3));
    for word in ["records 1 to 256", sha256, "narthex ledger verify --segment"] {
        assert!(stderr(&gone).contains(word), "{word}: {}", stderr(&gone));
    }
    for here in ["257", "999", "0"] {
        let said = narthex(&["ledger", "prove", here], house.path());
        assert_eq!(said.status.success(), here == "257");
        assert!(!stderr(&said).contains("taken out"), "{here}: {}", stderr(&said));
    }
    let mut bytes = fs::read(&file).expect("the segment");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).expect("the segment");
    let touched = narthex(&["ledger", "verify", "--segment", path], house.path());
    assert_eq!(touched.status.code(), Some(6), "{}", stderr(&touched));
}

#[test]
fn a_prune_that_was_killed_is_run_again() {
    let house = house();
    fill(house.path(), 270);
    let file = house.path().join("old.segment");
    let left = house.path().join("old.segment.narthex-partial");
    let path = file.to_str().expect("UTF-8");
    let before = tempfile::tempdir().expect("a folder");
    copy(house.path(), before.path());
    let prune = ["ledger", "prune", "--before", "260", "--export", path];
    answer(&prune, house.path());
    let whole = fs::read(&file).expect("the segment");
    // Killed while it wrote, after it wrote, and over a file that is something else.
    for (there, partial, fits) in [
        (None, Some(&whole[..100]), true),
        (Some(&whole[..]), None, true),
        (Some(&whole[..whole.len() - 1]), None, false),
        (Some(&b"mine"[..]), Some(&whole[..]), false),
    ] {
        let again = tempfile::tempdir().expect("a folder");
        copy(before.path(), again.path());
        for (name, bytes) in [(&file, there), (&left, partial)] {
            let _ = fs::remove_file(name);
            bytes.map_or(Ok(()), |bytes| fs::write(name, bytes)).expect("a file");
        }
        let output = narthex(&prune, again.path());
        assert_eq!(output.status.code(), Some(if fits { 0 } else { 4 }), "{}", stderr(&output));
        let expected = if fits { &whole[..] } else { there.unwrap_or_default() };
        assert_eq!(fs::read(&file).expect("a file"), expected);
        assert!(!left.exists());
        let base = answer(&["ledger", "verify"], again.path())["base"].clone();
        assert_eq!(base, if fits { 256 } else { 0 });
    }
}

#[test]
fn a_file_that_was_named_and_is_not_there_is_no_damage() {
    let house = house();
    let folder = house.path().to_str().expect("UTF-8").to_owned();
    let nowhere = format!("{folder}/nowhere");
    for option in ["--anchor", "--segment"] {
        for (file, code) in [(&nowhere, 3), (&folder, 1)] {
            let output = narthex(&["ledger", "verify", option, file], house.path());
            assert_eq!(output.status.code(), Some(code), "{option}: {}", stderr(&output));
            assert!(stderr(&output).contains(file.as_str()), "{option}: {}", stderr(&output));
        }
    }
}

#[test]
fn taking_the_public_key_away_does_not_hide_that_a_house_was_rolled_back() {
    let house = house();
    let (older, elsewhere) = (folder(), folder());
    copy(house.path(), older.path());
    answer(&["space", "add", "more"], house.path());
    let anchor = elsewhere.path().join("anchor");
    fs::write(&anchor, stdout(&narthex(&["ledger", "checkpoint"], house.path()))).expect("kept");
    let settings = format!("[ledger]\nanchor = {:?}\n", anchor.display().to_string());
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    for (gone, anchored, code) in [
        (&["ledger.pub"][..], true, 6),
        (&["ledger.pub"], false, 6),
        (&["ledger.pub", "keys/ledger.sign.key"], true, 2),
        (&["ledger.pub", "keys/ledger.sign.key"], false, 6),
    ] {
        for command in [&["ledger", "verify"][..], &serve] {
            let robbed = folder();
            copy(older.path(), robbed.path());
            if anchored {
                fs::write(robbed.path().join("narthex.toml"), &settings).expect("settings");
            }
            for name in gone {
                fs::remove_file(robbed.path().join(name)).expect(name);
            }
            let told = narthex(command, robbed.path());
            assert_eq!(told.status.code(), Some(code), "{command:?} {gone:?}: {}", stderr(&told));
        }
    }
    // An anchor that cannot be looked at is not taken for one that is not there yet.
    let behind = format!("[ledger]\nanchor = {:?}\n", anchor.join("x").display().to_string());
    fs::write(house.path().join("narthex.toml"), behind).expect("settings");
    for command in [&["ledger", "verify"][..], &serve] {
        let told = narthex(command, house.path());
        assert_eq!(told.status.code(), Some(1), "{command:?}: {}", stderr(&told));
    }
}

#[test]
fn records_that_the_anchor_has_not_come_past_stay() {
    let (house, elsewhere) = (house(), folder());
    let anchor = elsewhere.path().join("anchor");
    let keep = || {
        fs::write(&anchor, stdout(&narthex(&["ledger", "checkpoint"], house.path())))
            .expect("kept");
    };
    keep();
    let settings = format!("[ledger]\nanchor = {:?}\n", anchor.display().to_string());
    fs::write(house.path().join("narthex.toml"), settings).expect("settings");
    fill(house.path(), 270);
    let file = elsewhere.path().join("old.segment");
    let path = file.to_str().expect("UTF-8");
    let prune = ["ledger", "prune", "--before", "260", "--export", path];
    let early = narthex(&prune, house.path());
    assert_eq!(early.status.code(), Some(4), "{}", stderr(&early));
    assert!(stderr(&early).contains("the anchor of the settings"), "{}", stderr(&early));
    assert!(!file.exists());
    assert_eq!(answer(&["ledger", "verify"], house.path())["base"], 0);
    keep();
    answer(&prune, house.path());
    assert_eq!(answer(&["ledger", "verify"], house.path())["base"], 256);
}

#[test]
fn a_house_that_a_stdio_process_holds_is_followed_too() {
    let (house, elsewhere) = (house(), folder());
    let (anchor, sink) = (elsewhere.path().join("anchor"), elsewhere.path().join("sink"));
    let shown = |path: &Path| format!("{:?}", path.display().to_string());
    let settings =
        format!("[ledger]\nanchor = {}\n[ledger.sink]\nfile = {}\n", shown(&anchor), shown(&sink));
    fs::write(house.path().join("narthex.toml"), settings).expect("settings");
    let output = narthex(&["stdio", "--companion"], house.path());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(answer(&["ledger", "verify"], house.path())["anchors"], 1);
    assert!(fs::read_to_string(&sink).is_ok_and(|text| text.lines().count() > 1));
}

/// Puts so many records into a house that nobody holds.
fn fill(dir: &Path, count: u128) {
    use narthex_core::{Actor, CallId, Phase, RecordDraft, Transport};
    use narthex_store::{Commits as _, SystemClock, UnitOfWork};
    let dir = narthex_server::DataDir::at(dir);
    let keys = dir.keys().expect("keys");
    let (database, head) = (dir.database(), dir.head_file());
    let clock = std::sync::Arc::new(SystemClock);
    let config =
        narthex_store_sqlite::SqliteConfig::new(database, head, keys.ledger, keys.seal, clock);
    let record = |n| {
        let call = CallId::from_uuid(uuid::Uuid::from_u128(n));
        RecordDraft::new(Phase::Observed, call, Actor::Owner, Transport::Local, "filling")
    };
    let unit = UnitOfWork::records((0..count).map(record).collect());
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = narthex_store_sqlite::SqliteStore::open(config).await.expect("opens");
        store.commit(unit).await.expect("commits");
        store.close().await.expect("closes");
    });
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// In the middle of the file, as someone with the disk in their hands would.
fn change_a_word(dir: &Path) {
    let path = dir.join("narthex.db");
    let mut bytes = fs::read(&path).expect("the database");
    let at = bytes.windows(9).position(|word| word == b"space.add").expect("the record");
    bytes[at] = b'S';
    fs::write(&path, bytes).expect("the database");
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn house() -> TempDir {
    let dir = folder();
    answer(&["init"], dir.path());
    answer(&["space", "add", "notes"], dir.path());
    dir
}
