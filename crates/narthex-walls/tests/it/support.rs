//! A room for one process: directories, a launch, what it said.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use narthex_walls::{
    Ending, Environment, Launch, LogBounds, Preset, Spawned, WallError, Walls, probe,
};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

pub(crate) const PERSONA: &str = env!("CARGO_BIN_EXE_walls-persona");

/// A directory of its own for a test, with a name that no other process has on its command line.
pub(crate) struct Room {
    dir: TempDir,
}

impl Room {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("narthex-walls-").tempdir().expect("a room");
        std::fs::create_dir(dir.path().join("cwd")).expect("a directory");
        std::fs::create_dir(dir.path().join("outside")).expect("a directory");
        Self { dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn mark(&self) -> &str {
        self.dir.path().to_str().expect("text")
    }

    /// A file that no wall opens to.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        let path = self.path().join("outside").join(name);
        std::fs::write(&path, "canary").expect("a canary");
        path
    }

    pub(crate) fn launch(&self, walls: Walls, args: &[&str]) -> Launch {
        Launch {
            keeper: PERSONA.into(),
            command: PERSONA.into(),
            args: args.iter().map(Into::into).collect(),
            cwd: self.path().join("cwd"),
            environment: self.environment(),
            given: Vec::new(),
            walls,
            scratch: self.path().join("scratch"),
            shut: Vec::new(),
            expected: None,
            grace: Duration::from_millis(300),
            log: LogBounds::default(),
        }
    }

    fn environment(&self) -> Environment {
        let temporary = ("TMPDIR".into(), self.path().join("scratch/tmp").into());
        Environment::of(std::env::vars_os().filter(|(name, _)| name != "TMPDIR").chain([temporary]))
    }

    /// The processes that have the room's name on their command line.
    pub(crate) fn left(&self) -> Vec<String> {
        let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
        let lines = processes.filter_map(|process| {
            let line = std::fs::read(process.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
        lines.filter(|line| line.contains(self.mark())).collect()
    }

    /// Nothing is left, now or in a moment.
    pub(crate) async fn nothing_is_left_within(&self, most: Duration) {
        let until = Instant::now() + most;
        while !self.left().is_empty() {
            assert!(Instant::now() < until, "left behind: {:#?}", self.left());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Runs it to its end.
pub(crate) async fn run(launch: &Launch) -> (Ending, String, Vec<String>) {
    let mut spawned = Spawned::start(launch).expect("started");
    let mut heard = String::new();
    let stdout = spawned.take_stdout().expect("a pipe");
    stdout.take(1 << 20).read_to_string(&mut heard).await.expect("heard");
    let ending = spawned.wait().await;
    (ending, heard, spawned.log().lines())
}

/// Makes attempts inside walls, and says how each of them went.
pub(crate) async fn attempts(room: &Room, walls: Walls, attempts: &[String]) -> Vec<String> {
    let mut args = vec!["try"];
    args.extend(attempts.iter().map(String::as_str));
    let (ending, heard, log) = run(&room.launch(walls, &args)).await;
    assert_eq!(ending, Ending::Code(0), "{heard} {log:?}");
    heard.lines().map(str::to_owned).collect()
}

/// Waits until the target says that it is ready.
pub(crate) async fn ready(spawned: &mut Spawned) {
    let mut lines = BufReader::new(spawned.take_stdout().expect("a pipe")).lines();
    let line = tokio::time::timeout(Duration::from_secs(30), lines.next_line()).await;
    assert_eq!(line.expect("in time").expect("read").as_deref(), Some("ready"));
}

/// Whether this kernel has the walls. Where it has not, tries that nothing is started.
pub(crate) fn stand(walls: &Walls) -> bool {
    if probe().holds(walls).is_ok() {
        return true;
    }
    let room = Room::new();
    let launch = room.launch(walls.clone(), &["exit", "0"]);
    let refused = Spawned::start(&launch).map(|spawned| spawned.id());
    assert!(
        matches!(refused, Err(narthex_walls::LaunchError::Walls(WallError::Missing { .. }))),
        "{refused:?}"
    );
    eprintln!("THIS KERNEL HAS NO SUCH WALLS ({:?}); tried that nothing is started", probe());
    false
}

pub(crate) fn preset(preset: Preset) -> Walls {
    Walls::preset(preset)
}
