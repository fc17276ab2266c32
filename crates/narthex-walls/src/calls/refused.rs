//! The calls no walled program makes, each with its reason.

use rustix::process::Pid;
use seccompiler::{BpfProgram, SeccompAction};

use super::rules::Test::{Has, Is, Not};
use super::rules::{Rules, When, refused};
use crate::WallError;

/// Refuses what stands in the table, and signals to the keeper.
pub(super) fn program(keeper: Pid) -> Result<BpfProgram, WallError> {
    let mut rules = Rules::default();
    for (call, when, _why) in rows() {
        rules.add(call, when)?;
    }
    for (call, when) in signals_to(keeper)? {
        rules.add(call, when)?;
    }
    rules.program(SeccompAction::Errno(PERM), SeccompAction::Allow)
}

/// Its arguments lie in memory, where no filter sees them. Whoever finds it missing uses `clone`,
/// which is seen through.
pub(super) fn absent() -> Result<BpfProgram, WallError> {
    let mut rules = Rules::default();
    rules.add(libc::SYS_clone3, When::Always)?;
    rules.program(SeccompAction::Errno(NOT_THERE), SeccompAction::Allow)
}

/// The keeper by its own number, as the group it leads, and among all there are. It has one
/// thread, so that no other number leads to it.
fn signals_to(keeper: Pid) -> Result<Vec<(i64, When)>, WallError> {
    let pid = keeper.as_raw_nonzero().get();
    let number = u32::try_from(pid).map_err(refused)?;
    let group = number.wrapping_neg();
    let everyone = u32::MAX;
    let mut rows: Vec<_> =
        [number, group, everyone].map(|to| (libc::SYS_kill, When::Arg(0, Is(to)))).into();
    rows.extend(
        [
            libc::SYS_tkill,
            libc::SYS_tgkill,
            libc::SYS_rt_sigqueueinfo,
            libc::SYS_rt_tgsigqueueinfo,
            libc::SYS_pidfd_open,
        ]
        .map(|call| (call, When::Arg(0, Is(number)))),
    );
    Ok(rows)
}

/// Every row there is.
pub(super) fn rows() -> impl Iterator<Item = Row> {
    REFUSED.iter().chain(OF_THIS_ARCHITECTURE).copied()
}

type Row = (i64, When, &'static str);

const OTHERS: &str = "looks into, or changes, other processes";
const SHARED: &str = "reaches memory and queues of the same user, which have no path and no walls";
const MOUNTS: &str = "changes what a path leads to";
const KEYS: &str = "reaches the user's keys in the kernel";
const SPACES: &str = "makes or enters a name space, where it would have the rights of root";
const KERNEL: &str = "changes the kernel";
const MACHINE: &str = "changes the machine's settings";
const SURFACE: &str =
    "a large part of the kernel, behind many of its holes, that programs do without";
const PAST: &str = "does what other calls do, where no filter sees it";
const TERMINAL: &str = "types into a terminal as if a person had";

const REFUSED: &[Row] = &[
    (libc::SYS_ptrace, When::Always, OTHERS),
    (libc::SYS_process_vm_readv, When::Always, OTHERS),
    (libc::SYS_process_vm_writev, When::Always, OTHERS),
    (libc::SYS_process_madvise, When::Always, OTHERS),
    (libc::SYS_process_mrelease, When::Always, OTHERS),
    (libc::SYS_pidfd_getfd, When::Always, OTHERS),
    (libc::SYS_kcmp, When::Always, OTHERS),
    (libc::SYS_move_pages, When::Always, OTHERS),
    (libc::SYS_migrate_pages, When::Always, OTHERS),
    (libc::SYS_prlimit64, When::Arg(0, Not(0)), OTHERS),
    (libc::SYS_setpriority, When::Arg(1, Not(0)), OTHERS),
    (libc::SYS_ioprio_set, When::Arg(1, Not(0)), OTHERS),
    (libc::SYS_shmget, When::Always, SHARED),
    (libc::SYS_shmat, When::Always, SHARED),
    (libc::SYS_semget, When::Always, SHARED),
    (libc::SYS_msgget, When::Always, SHARED),
    (libc::SYS_mq_open, When::Always, SHARED),
    (libc::SYS_mount, When::Always, MOUNTS),
    (libc::SYS_umount2, When::Always, MOUNTS),
    (libc::SYS_pivot_root, When::Always, MOUNTS),
    (libc::SYS_chroot, When::Always, MOUNTS),
    (libc::SYS_move_mount, When::Always, MOUNTS),
    (libc::SYS_open_tree, When::Always, MOUNTS),
    (OPEN_TREE_ATTR, When::Always, MOUNTS),
    (libc::SYS_fsopen, When::Always, MOUNTS),
    (libc::SYS_fsconfig, When::Always, MOUNTS),
    (libc::SYS_fsmount, When::Always, MOUNTS),
    (libc::SYS_fspick, When::Always, MOUNTS),
    (libc::SYS_mount_setattr, When::Always, MOUNTS),
    (libc::SYS_open_by_handle_at, When::Always, "opens a file without a path"),
    (libc::SYS_fanotify_init, When::Always, "watches files of others"),
    (libc::SYS_keyctl, When::Always, KEYS),
    (libc::SYS_add_key, When::Always, KEYS),
    (libc::SYS_request_key, When::Always, KEYS),
    (libc::SYS_setns, When::Always, SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_USER)), SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_MOUNTS)), SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_PIDS)), SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_NETWORK)), SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_IPC)), SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_NAMES)), SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_CGROUP)), SPACES),
    (libc::SYS_unshare, When::Arg(0, Has(NEW_TIME)), SPACES),
    (libc::SYS_clone, When::Arg(0, Has(NEW_USER)), SPACES),
    (libc::SYS_clone, When::Arg(0, Has(NEW_MOUNTS)), SPACES),
    (libc::SYS_clone, When::Arg(0, Has(NEW_PIDS)), SPACES),
    (libc::SYS_clone, When::Arg(0, Has(NEW_NETWORK)), SPACES),
    (libc::SYS_clone, When::Arg(0, Has(NEW_IPC)), SPACES),
    (libc::SYS_clone, When::Arg(0, Has(NEW_NAMES)), SPACES),
    (libc::SYS_clone, When::Arg(0, Has(NEW_CGROUP)), SPACES),
    (libc::SYS_kexec_load, When::Always, KERNEL),
    (libc::SYS_kexec_file_load, When::Always, KERNEL),
    (libc::SYS_init_module, When::Always, KERNEL),
    (libc::SYS_finit_module, When::Always, KERNEL),
    (libc::SYS_delete_module, When::Always, KERNEL),
    (libc::SYS_reboot, When::Always, MACHINE),
    (libc::SYS_swapon, When::Always, MACHINE),
    (libc::SYS_swapoff, When::Always, MACHINE),
    (libc::SYS_acct, When::Always, MACHINE),
    (libc::SYS_quotactl, When::Always, MACHINE),
    (libc::SYS_quotactl_fd, When::Always, MACHINE),
    (libc::SYS_settimeofday, When::Always, MACHINE),
    (libc::SYS_clock_settime, When::Always, MACHINE),
    (libc::SYS_clock_adjtime, When::Always, MACHINE),
    (libc::SYS_adjtimex, When::Always, MACHINE),
    (libc::SYS_sethostname, When::Always, MACHINE),
    (libc::SYS_setdomainname, When::Always, MACHINE),
    (libc::SYS_syslog, When::Always, "reads what the kernel logged"),
    (libc::SYS_vhangup, When::Always, "takes a terminal away"),
    (libc::SYS_bpf, When::Always, SURFACE),
    (libc::SYS_perf_event_open, When::Always, SURFACE),
    (libc::SYS_userfaultfd, When::Always, SURFACE),
    (libc::SYS_io_uring_setup, When::Always, PAST),
    (libc::SYS_io_uring_enter, When::Always, PAST),
    (libc::SYS_io_uring_register, When::Always, PAST),
    (
        libc::SYS_personality,
        When::Args(&[(0, Not(0)), (0, Not(ASK))]),
        "takes memory protection off",
    ),
    (libc::SYS_ioctl, When::Arg(1, Is(PUSH_INPUT)), TERMINAL),
    (libc::SYS_ioctl, When::Arg(1, Is(CONSOLE)), TERMINAL),
];

#[cfg(target_arch = "x86_64")]
const OF_THIS_ARCHITECTURE: &[Row] = &[
    (libc::SYS_ioperm, When::Always, KERNEL),
    (libc::SYS_iopl, When::Always, KERNEL),
    (libc::SYS_modify_ldt, When::Always, SURFACE),
    (libc::SYS_lookup_dcookie, When::Always, SURFACE),
    (libc::SYS_uselib, When::Always, SURFACE),
];
#[cfg(not(target_arch = "x86_64"))]
const OF_THIS_ARCHITECTURE: &[Row] = &[];

/// Newer than what names them.
const OPEN_TREE_ATTR: i64 = 467;
const NEW_TIME: u32 = 0x0000_0080;
const NEW_MOUNTS: u32 = 0x0002_0000;
const NEW_CGROUP: u32 = 0x0200_0000;
const NEW_NAMES: u32 = 0x0400_0000;
const NEW_IPC: u32 = 0x0800_0000;
const NEW_USER: u32 = 0x1000_0000;
const NEW_PIDS: u32 = 0x2000_0000;
const NEW_NETWORK: u32 = 0x4000_0000;
/// Says which personality it has, and changes none.
const ASK: u32 = 0xffff_ffff;
/// TIOCSTI.
const PUSH_INPUT: u32 = 0x5412;
/// TIOCLINUX.
const CONSOLE: u32 = 0x541c;
/// EPERM.
const PERM: u32 = 1;
/// ENOSYS.
const NOT_THERE: u32 = 38;
