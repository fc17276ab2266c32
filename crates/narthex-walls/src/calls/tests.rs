//! The programs, run as the kernel runs them, over every row.

use rustix::process::Pid;
use seccompiler::sock_filter;

use super::{AllowList, Otherwise, Test, When, refused, sockets, unknown};
use crate::Network;

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const EPERM: u32 = 0x0005_0001;
const EACCES: u32 = 0x0005_000d;
const ENOSYS: u32 = 0x0005_0026;
const KEEPER: u32 = 4242;

/// What a program says of a call.
fn says(program: &[sock_filter], call: i64, args: [u32; 4]) -> u32 {
    let call = u32::try_from(call).expect("a number");
    let arch: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
    let word = |offset: u32| match offset {
        0 => call,
        4 => arch,
        16.. if (offset - 16).is_multiple_of(8) => {
            args.get((offset as usize - 16) / 8).copied().unwrap_or(0)
        }
        _ => 0,
    };
    let (mut at, mut loaded) = (0, 0);
    loop {
        let step = &program[at];
        at += 1;
        let mut jump = |holds: bool| at += usize::from(if holds { step.jt } else { step.jf });
        match step.code {
            0x20 => loaded = word(step.k),
            0x54 => loaded &= step.k,
            0x05 => at += step.k as usize,
            0x15 => jump(loaded == step.k),
            0x25 => jump(loaded > step.k),
            0x35 => jump(loaded >= step.k),
            0x06 => return step.k,
            other => panic!("an instruction that is not played: {other:#x}"),
        }
    }
}

fn keeper() -> Pid {
    Pid::from_raw(4242).expect("a number")
}

#[test]
fn every_row_is_refused_and_only_as_it_says() {
    let program = refused::program(keeper()).expect("a program");
    for (call, when, why) in refused::rows() {
        let (hit, miss) = match when {
            When::Always => ([7; 4], None),
            When::Arg(at, Test::Is(value)) => (at_place(at, value), Some(at_place(at, value ^ 1))),
            When::Arg(at, Test::Has(bits)) => (at_place(at, bits | 0x11), Some([0; 4])),
            When::Arg(at, Test::Not(value)) => (at_place(at, 77), Some(at_place(at, value))),
            When::Args(_) => ([77; 4], Some([0; 4])),
            When::Arg(..) => panic!("{when:?} is in no row"),
        };
        assert_eq!(says(&program, call, hit), EPERM, "{call} {when:?}: {why}");
        if let Some(miss) = miss {
            assert_eq!(says(&program, call, miss), ALLOW, "{call} {when:?}: {why}");
        }
    }
    for call in [libc::SYS_read, libc::SYS_execve, libc::SYS_clone, libc::SYS_kill, libc::SYS_futex]
    {
        assert_eq!(says(&program, call, [17; 4]), ALLOW, "{call}");
    }
}

fn at_place(at: u8, value: u32) -> [u32; 4] {
    let mut args = [0; 4];
    args[usize::from(at)] = value;
    args
}

#[test]
fn the_keeper_is_not_signalled() {
    let program = refused::program(keeper()).expect("a program");
    for to in [KEEPER, KEEPER.wrapping_neg(), u32::MAX] {
        assert_eq!(says(&program, libc::SYS_kill, [to, 9, 0, 0]), EPERM, "{to}");
    }
    for call in [libc::SYS_tgkill, libc::SYS_tkill, libc::SYS_rt_sigqueueinfo, libc::SYS_pidfd_open]
    {
        assert_eq!(says(&program, call, [KEEPER, 9, 9, 0]), EPERM, "{call}");
        assert_eq!(says(&program, call, [KEEPER + 1, 9, 9, 0]), ALLOW, "{call}");
    }
}

#[test]
fn new_numbers_and_those_of_x32_are_not_there() {
    let program = unknown::program().expect("a program");
    assert_eq!(says(&program, libc::SYS_read, [0; 4]), ALLOW);
    assert_eq!(says(&program, 469, [0; 4]), ALLOW);
    for call in [470, 600, 0x4000_0000, 0x4000_0000 + 101] {
        assert_eq!(says(&program, call, [0; 4]), ENOSYS, "{call}");
    }
    let absent = refused::absent().expect("a program");
    assert_eq!(says(&absent, libc::SYS_clone3, [0; 4]), ENOSYS);
}

/// Family, kind and protocol of a socket.
type Asked = [u32; 4];
const STREAM: Asked = [2, 1, 0, 0];
const STREAM6: Asked = [10, 1 | 0o2_000_000, 0, 0];
const NAMES: Asked = [2, 2, 0, 0];
const ROUTES: Asked = [16, 3, 0, 0];
const UNIX: Asked = [1, 1, 0, 0];
const MULTIPATH: Asked = [2, 1, 262, 0];
const RAW: Asked = [2, 3, 17, 0];
/// Others: audit over netlink, packets, the host of a virtual machine, ciphers, Bluetooth.
const NEVER: [Asked; 5] =
    [[16, 3, 9, 0], [17, 3, 0, 0], [40, 1, 0, 0], [38, 5, 0, 0], [31, 1, 0, 0]];

#[test]
fn sockets_are_opened_only_as_far_as_the_walls_are() {
    let ports = Network::Ports(vec![443]);
    let cases: [(&Network, bool, &[Asked], &[Asked]); 5] = [
        (&Network::On, false, &[STREAM, STREAM6, NAMES, ROUTES, MULTIPATH], &[UNIX, RAW]),
        (&Network::On, true, &[STREAM, UNIX, ROUTES], &[]),
        (&ports, false, &[STREAM, STREAM6, NAMES, ROUTES], &[UNIX, MULTIPATH, RAW]),
        (&Network::Off, false, &[], &[STREAM, STREAM6, NAMES, ROUTES, UNIX, RAW]),
        (&Network::Off, true, &[UNIX], &[STREAM, STREAM6, NAMES, ROUTES, RAW]),
    ];
    for (network, unix, open, shut) in cases {
        let program = sockets::program(network, unix).expect("a program");
        for asked in open {
            assert_eq!(says(&program, libc::SYS_socket, *asked), ALLOW, "{network:?} {asked:?}");
        }
        for asked in shut.iter().chain(&NEVER) {
            assert_eq!(says(&program, libc::SYS_socket, *asked), EACCES, "{network:?} {asked:?}");
        }
        let pair = |asked| says(&program, libc::SYS_socketpair, asked);
        assert_eq!(pair([1, 1 | 0o2_000_000, 0, 0]), ALLOW);
        assert_eq!(pair([1, 2 | 0o2_000_000, 0, 0]), if unix { ALLOW } else { EACCES });
        assert_eq!(pair([2, 1, 0, 0]), EACCES);
        let by_sending = says(&program, libc::SYS_sendto, [3, 0, 0, 0x2000_4000]);
        assert_eq!(by_sending == EACCES, network == &ports);
    }
}

#[test]
fn a_list_allows_what_is_on_it_and_nothing_else() {
    let list = AllowList::new(Otherwise::Kill)
        .call(libc::SYS_read)
        .call_when(libc::SYS_write, When::Arg(0, Test::Is(1)))
        .call_when(libc::SYS_write, When::Arg(0, Test::Is(2)));
    let program = list.program().expect("a program");
    assert_eq!(says(&program, libc::SYS_read, [9; 4]), ALLOW);
    assert_eq!(says(&program, libc::SYS_write, [2, 0, 0, 0]), ALLOW);
    assert_eq!(says(&program, libc::SYS_write, [3, 0, 0, 0]), KILL);
    assert_eq!(says(&program, libc::SYS_execve, [0; 4]), KILL);
    let softer = AllowList::new(Otherwise::Fail(1)).call(libc::SYS_read).program().expect("one");
    assert_eq!(says(&softer, libc::SYS_execve, [0; 4]), EPERM);
}
