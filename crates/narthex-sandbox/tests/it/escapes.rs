//! The engine is assumed to be broken: native code runs in the worker, and the walls hold it.
//!
//! The code is `escape.c`, compiled here and put into a worker by the loader; everything else of the
//! worker is as it always is. The same attempts in a worker without walls show that they are real ones.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use narthex_sandbox::ProcessLayer;
use serde_json::json;

use crate::support::{PERSONA, ended, layer, run};

/// What is tried, by its number in `escape.c`.
const ATTEMPTS: &[&str] = &[
    "open a file to read",
    "open a file the old way",
    "make a file",
    "a socket of the internet",
    "a socket of the file system",
    "connect",
    "become another program",
    "become another program by its folder",
    "fork",
    "vfork",
    "clone",
    "clone3",
    "be traced",
    "a signal to the parent",
    "a signal to another thread",
    "memory to write and run",
    "make memory run",
    "a file as memory",
    "a file without a name",
    "be dumped",
    "raise a limit",
    "read the parent's memory",
    "io_uring",
    "bpf",
    "a namespace",
    "take a file away",
    "list a folder",
    "read elsewhere than from the pipe",
    "write elsewhere than into the pipe",
    "double the pipe",
    "type into a terminal",
    "userfaultfd",
    "keys",
    "a handler of signals",
    "another user",
    "mount",
    "look at a file",
    "hold a process",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_native_code_tries_gets_through_the_walls() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = taken_over(folder.path()) else { return };
    let Some(locked) = layer(false) else { return };
    let locked = ProcessLayer { program: program.clone(), ..locked };
    let calm = run(&locked, "Math.cos(1) === 0.5").await;
    assert_eq!(ended(&calm), Ok(json!(true)), "the native code is in the worker");
    for (number, what) in ATTEMPTS.iter().enumerate() {
        let report = run(&locked, &format!("Math.cos({})", 1000 + number)).await;
        let failed = report.value.as_ref().expect_err(what);
        assert!(failed.message.contains("tried to leave its sandbox"), "{what}: {failed:?}");
    }
    assert!(!Path::new("/tmp/escaped").exists());
    // Outside of the walls the same go through: the attempts are real ones.
    let free = folder.path().join("free");
    assert!(compile(&["-DMAIN"], &free), "it was compiled before");
    for number in [0, 3, 4, 15, 16, 18, 29, 36] {
        let said = Command::new(&free).arg(number.to_string()).output().expect("it runs");
        let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        assert_eq!(said, "0", "{}", ATTEMPTS[number]);
    }
}

/// The worker's program with the native code in it; none where there is no compiler.
fn taken_over(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("escape.so");
    // The rest of the build needs a compiler too: without one, this is somebody's odd machine.
    if !compile(&["-shared", "-fPIC"], &library) {
        return None;
    }
    let program = folder.join("worker");
    let text = format!("#!/bin/sh\nLD_PRELOAD={} exec {PERSONA} \"$@\"\n", library.display());
    std::fs::write(&program, text).expect("a script");
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, all).expect("a mode");
    Some(program)
}

fn compile(how: &[&str], to: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/escape.c");
    let compiled = Command::new("cc").args(how).args(["-w", "-o"]).arg(to).arg(source).status();
    compiled.is_ok_and(|status| status.success())
}
