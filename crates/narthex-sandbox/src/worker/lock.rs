//! What a worker may still ask of the system once it is shut in: to speak through its pipe, to have
//! memory that is not code, and to end.

use libc::{MAP_ANONYMOUS, PROT_EXEC};
use narthex_walls::{
    AllowList, Limits, Otherwise, Test, WallError, When, lock_as_far_as_possible, lock_strict,
};

/// Shuts this process in, for a program of so much heap and so much time.
pub(super) fn lock(heap: u64, cpu_seconds: u64, lowered: bool) -> Result<(), WallError> {
    let limits = Limits {
        open_files: FILES,
        memory: Some(address_space().saturating_add(heap).saturating_add(SPARE)),
        processes: None,
        cpu_seconds: Some(cpu_seconds),
        file_bytes: Some(0),
    };
    if lowered {
        // The owner said so: whatever walls there are go up, and it goes on without the others.
        lock_as_far_as_possible(&limits, &calls());
        return Ok(());
    }
    lock_strict(&limits, &calls())
}

/// Every call there is. What is not here ends the process.
fn calls() -> AllowList {
    let calls = AllowList::new(Otherwise::Kill)
        .call_when(libc::SYS_read, When::Arg(0, Test::Is(STDIN)))
        .call_when(libc::SYS_write, When::Arg(0, Test::Is(STDOUT)))
        .call_when(libc::SYS_mmap, When::Args(PLAIN_MEMORY))
        .call_when(libc::SYS_mprotect, When::Arg(2, Test::Masked(EXECUTE, 0)))
        .call(libc::SYS_munmap)
        .call(libc::SYS_mremap)
        .call(libc::SYS_madvise)
        .call(libc::SYS_brk)
        .call(libc::SYS_futex)
        .call(libc::SYS_clock_gettime)
        .call(libc::SYS_sched_yield)
        .call(libc::SYS_sigaltstack)
        .call(libc::SYS_rt_sigreturn)
        .call(libc::SYS_rt_sigprocmask)
        .call(libc::SYS_ppoll)
        .call(libc::SYS_exit)
        .call(libc::SYS_exit_group);
    // Where there is one, it is what is used.
    #[cfg(target_arch = "x86_64")]
    let calls = calls.call(libc::SYS_poll);
    calls
}

/// Bytes of address space in use: of a large program, most of it is never touched.
fn address_space() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().next().and_then(|pages| pages.parse::<u64>().ok());
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    pages.unwrap_or(0).saturating_mul(page)
}

/// The pipe, standard error, and what putting up the walls takes for a moment.
const FILES: u64 = 8;
const STDIN: u32 = 0;
const STDOUT: u32 = 1;
const EXECUTE: u32 = PROT_EXEC as u32;
const PLAIN_MEMORY: &[(u8, Test)] =
    &[(2, Test::Masked(EXECUTE, 0)), (3, Test::Has(MAP_ANONYMOUS as u32))];

/// What reading a program takes, beside the heap it has: the parser, its tree, frames.
const SPARE: u64 = 96 * 1024 * 1024;
