use super::{DataDir, DataDirError};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_second_holder_is_refused_and_told_who_is_first() {
    let folder = tempfile::tempdir().expect("folder");
    let dir = DataDir::at(folder.path().join("house"));
    dir.create().expect("created");
    let mut first = dir.hold("serve").expect("free");
    first.announce("http://127.0.0.1:1/mcp").expect("written");
    let refused = dir.hold("serve").expect_err("held").to_string();
    assert!(refused.contains(&format!("pid {}", std::process::id())), "{refused}");
    assert!(refused.contains("http://127.0.0.1:1/mcp"), "{refused}");
    drop(first);
    dir.hold("serve").expect("free again");
}

#[test]
fn keys_that_others_can_read_are_refused_and_stay_as_they_were() {
    let folder = tempfile::tempdir().expect("folder");
    let dir = DataDir::at(folder.path());
    dir.create().expect("created");
    let before = std::fs::read(dir.token_key()).expect("key");
    dir.create().expect("again");
    assert_eq!(std::fs::read(dir.token_key()).expect("key"), before);
    dir.keys().expect("good");
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(dir.token_key(), open).expect("chmod");
    assert!(matches!(dir.keys(), Err(DataDirError::Exposed { mode: 0o644, .. })));
}

#[test]
fn a_database_without_its_keys_gets_no_new_ones() {
    let folder = tempfile::tempdir().expect("folder");
    let dir = DataDir::at(folder.path());
    dir.create().expect("created");
    std::fs::write(dir.database(), b"x").expect("database");
    std::fs::remove_file(dir.token_key()).expect("removed");
    assert!(dir.create().is_err());
    assert!(!dir.token_key().exists());
}
