//! Processes of somebody else's, as bad as we can make them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use narthex_walls::{AllowList, Environment, Launch, Limits, LogBounds, Otherwise, Spawned, Walls};
use rustix::process::{Pid, Signal, getpid, getppid, kill_process, setsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Plays a role; those that end say how in their exit code.
pub(crate) fn play(role: &str, words: &[OsString]) -> ExitCode {
    let text: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    match role {
        "stubborn" => stubborn(),
        "lonely" => lonely(),
        "closes-output" => closes_output(),
        "tree" => tree(text[0]),
        "daemon" => daemon(text[0]),
        "comet" => comet(text[0], text[1].parse().expect("turns")),
        "leaves-daemon" => leaves_daemon(text[0]),
        "until-eof" => until_eof(),
        "exit" => ExitCode::from(text[0].parse::<u8>().expect("a code")),
        "last-byte" => last_byte(),
        "env" => env(),
        "try" => attempt(&text),
        "flood" => flood(text[0].parse().expect("how much")),
        "say" => say(&text),
        "open-files" => open_files(),
        "limits" => limits(),
        "strict" => strict(),
        "gateway" => gateway(text[0], text[1]),
        other => panic!("no such role: {other}"),
    }
}

/// Longer than any test waits, and not for ever: where the rule that ends it is broken, the machine
/// is not to keep it.
fn forever() -> ! {
    std::thread::sleep(Duration::from_mins(2));
    std::process::exit(99)
}

fn ignore_signals() {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).expect("ignored");
    }
}

fn said(line: &str) {
    println!("{line}");
    io::stdout().flush().expect("said");
}

fn again(role: &str, mark: &str) -> Child {
    Command::new("/proc/self/exe").args([role, mark]).spawn().expect("a child")
}

fn stubborn() -> ExitCode {
    ignore_signals();
    forever()
}

fn lonely() -> ExitCode {
    ignore_signals();
    said("ready");
    forever()
}

fn closes_output() -> ExitCode {
    said("closing");
    let nothing = fs::File::options().write(true).open("/dev/null").expect("nothing");
    rustix::stdio::dup2_stdout(nothing).expect("closed");
    stubborn()
}

/// A child in the group, one in a session of its own, and a daemon whose parents are gone; none
/// of them hears SIGTERM.
fn tree(mark: &str) -> ExitCode {
    ignore_signals();
    again("stubborn", mark);
    again("daemon", mark);
    again("leaves-daemon", mark).wait().expect("gone");
    std::thread::sleep(Duration::from_millis(100));
    said("ready");
    forever()
}

fn daemon(mark: &str) -> ExitCode {
    ignore_signals();
    setsid().expect("a session");
    again("stubborn", mark);
    forever()
}

fn leaves_daemon(mark: &str) -> ExitCode {
    again("daemon", mark);
    std::thread::sleep(Duration::from_millis(50));
    ExitCode::from(3)
}

/// Never the same process for long, never in the same session; burnt out after a while.
fn comet(mark: &str, turns: u32) -> ExitCode {
    let next = |turns: u32| {
        let turns = turns.to_string();
        Command::new("/proc/self/exe").args(["comet", mark, &turns]).spawn().expect("a child")
    };
    if setsid().is_err() {
        // The first of them stays, so that the others have somebody to run from.
        next(turns);
        said("ready");
        stubborn();
    }
    if turns > 0 {
        next(turns - 1);
    }
    ExitCode::SUCCESS
}

fn until_eof() -> ExitCode {
    said("ready");
    let mut all = Vec::new();
    io::stdin().read_to_end(&mut all).expect("read");
    ExitCode::from(7)
}

/// Ends with the last byte of the file that is being executed.
fn last_byte() -> ExitCode {
    let own = fs::read("/proc/self/exe").expect("own file");
    ExitCode::from(*own.last().expect("a byte"))
}

fn env() -> ExitCode {
    for (name, value) in std::env::vars() {
        said(&format!("{name}={value}"));
    }
    ExitCode::SUCCESS
}

fn flood(bytes: usize) -> ExitCode {
    let piece = vec![b'x'; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(piece.len());
        io::stderr().write_all(&piece[..now]).expect("said");
        left -= now;
    }
    ExitCode::SUCCESS
}

fn say(lines: &[&str]) -> ExitCode {
    for line in lines {
        eprintln!("{line}");
    }
    ExitCode::SUCCESS
}

fn open_files() -> ExitCode {
    for entry in fs::read_dir("/proc/self/fd").expect("a list").flatten() {
        let leads = fs::read_link(entry.path()).unwrap_or_default();
        said(&format!("{} {}", entry.file_name().display(), leads.display()));
    }
    ExitCode::SUCCESS
}

fn limits() -> ExitCode {
    for line in fs::read_to_string("/proc/self/limits").expect("limits").lines() {
        said(line);
    }
    for line in fs::read_to_string("/proc/self/status").expect("status").lines() {
        said(line);
    }
    ExitCode::SUCCESS
}

/// Each word is an attempt, `what=at`; says of each how it went.
fn attempt(words: &[&str]) -> ExitCode {
    for word in words {
        let (what, at) = word.split_once('=').expect("what=at");
        let went = match tried(what, at) {
            Ok(()) => "ok".to_owned(),
            Err(error) => match error.raw_os_error() {
                Some(libc::EACCES) => "EACCES".to_owned(),
                Some(libc::EPERM) => "EPERM".to_owned(),
                Some(libc::ENOSYS) => "ENOSYS".to_owned(),
                _ => error.to_string(),
            },
        };
        said(&format!("{what} {went}"));
    }
    ExitCode::SUCCESS
}

fn tried(what: &str, at: &str) -> io::Result<()> {
    let path = Path::new(at);
    match what {
        "read" => fs::read(path).map(drop),
        "list" => fs::read_dir(path).map(drop),
        "write" => fs::write(path, "written"),
        "cut" => fs::OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(0)),
        "cut-unopened" => Ok(rustix::fs::open(
            path,
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::TRUNC,
            rustix::fs::Mode::empty(),
        )
        .map(drop)?),
        "remove" => fs::remove_file(path),
        "link-out" => std::os::unix::fs::symlink(path, scratch("link"))
            .and_then(|()| fs::read(scratch("link")).map(drop)),
        "hard-link-out" => fs::hard_link(path, scratch("hard")),
        "execute" => Command::new(path).status().map(drop),
        "connect" => TcpStream::connect(address(at)).map(drop),
        "listen" => std::net::TcpListener::bind(address(at)).map(drop),
        "datagram" => UdpSocket::bind("127.0.0.1:0")
            .and_then(|socket| socket.send_to(b"x", address(at)).map(drop)),
        "unix" => UnixStream::connect(path).map(drop),
        "abstract" => UnixStream::connect_addr(&UnixAddr::from_abstract_name(at)?).map(drop),
        "pair" => UnixStream::pair().map(drop),
        "thread" => std::thread::Builder::new().spawn(|| ()).map(drop),
        _ => called(what, at),
    }
}

/// What only some calls do.
#[expect(
    deprecated,
    reason = "sharing less is unsound for those who share more; this process ends"
)]
fn called(what: &str, at: &str) -> io::Result<()> {
    use rustix::thread::UnshareFlags;
    let number = || at.parse().ok().and_then(Pid::from_raw).expect("a process");
    match what {
        "read-keeper" => {
            let keeper = getppid().expect("a keeper").as_raw_nonzero();
            fs::read(format!("/proc/{keeper}/{at}")).map(drop)
        }
        "signal" => Ok(kill_process(number(), Signal::TERM)?),
        "signal-keeper" => Ok(kill_process(getppid().expect("a keeper"), Signal::KILL)?),
        "hold-keeper" => Ok(rustix::process::pidfd_open(
            getppid().expect("a keeper"),
            rustix::process::PidfdFlags::empty(),
        )
        .map(drop)?),
        "limit-other" => {
            let none = rustix::process::Rlimit { current: Some(1), maximum: Some(1) };
            Ok(rustix::process::prlimit(Some(number()), rustix::process::Resource::Core, none)
                .map(drop)?)
        }
        "user-space" => Ok(rustix::thread::unshare(UnshareFlags::NEWUSER)?),
        "mount-space" => Ok(rustix::thread::unshare(UnshareFlags::NEWNS)?),
        "change-root" => Ok(rustix::process::chroot(at)?),
        "own-signal" => Ok(kill_process(getpid(), Signal::CONT)?),
        other => panic!("no such attempt: {other}"),
    }
}

fn address(at: &str) -> SocketAddr {
    at.parse().expect("an address")
}

/// A name in its scratch directory that nobody took.
fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{name}-{}", std::process::id()))
}

/// Shuts itself in, and says what it still can do.
fn strict() -> ExitCode {
    let mut open = fs::File::open("/proc/self/limits").expect("open before");
    let calls = AllowList::new(Otherwise::Fail(libc::EPERM as u32))
        .call(libc::SYS_read)
        .call(libc::SYS_write)
        .call(libc::SYS_openat)
        .call(libc::SYS_brk)
        .call(libc::SYS_mmap)
        .call(libc::SYS_munmap)
        .call(libc::SYS_futex)
        .call(libc::SYS_sigaltstack)
        .call(libc::SYS_exit_group);
    narthex_walls::lock_strict(&Limits::default(), &calls).expect("locked");
    // Written when it is read.
    let mut some = [0_u8; 4096];
    let read = open.read(&mut some).expect("read");
    let text = String::from_utf8_lossy(&some[..read]).into_owned();
    let core = text.lines().find(|line| line.starts_with("Max core")).unwrap_or_default();
    said(&core.split_whitespace().collect::<Vec<_>>().join(" "));
    // Allowed by the list, and shut by the wall around files.
    said(&format!("open {:?}", fs::File::open("/etc/passwd").map(drop).map_err(|e| e.kind())));
    said(&format!("socket {:?}", UdpSocket::bind("127.0.0.1:0").map(drop).map_err(|e| e.kind())));
    said(&format!(
        "execute {:?}",
        Command::new("/bin/true").spawn().map(drop).map_err(|e| e.kind())
    ));
    ExitCode::SUCCESS
}

/// Starts a tree through a keeper, as the gateway does, and stays until it is killed.
fn gateway(room: &str, walls: &str) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("one");
    runtime.block_on(async {
        let own = std::env::current_exe().expect("own path");
        let walls: Walls = serde_json::from_str(walls).expect("walls");
        let launch = Launch {
            keeper: own.clone(),
            command: own,
            args: vec!["tree".into(), room.into()],
            cwd: room.into(),
            environment: Environment::default(),
            given: Vec::new(),
            walls,
            scratch: Path::new(room).join("scratch"),
            shut: Vec::new(),
            expected: None,
            grace: Duration::from_millis(200),
            log: LogBounds::default(),
        };
        let mut spawned = Spawned::start(&launch).expect("started");
        let mut heard = [0_u8; 5];
        let mut stdout = spawned.take_stdout().expect("a pipe");
        tokio::io::AsyncReadExt::read_exact(&mut stdout, &mut heard).await.expect("ready");
        said("ready");
        std::future::pending::<()>().await;
    });
    ExitCode::SUCCESS
}
