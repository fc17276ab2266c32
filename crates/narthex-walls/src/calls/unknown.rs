//! Numbers that mean nothing to us. A list of refused calls says nothing of a call that the next
//! kernel brings, nor of the same calls under the numbers of x32: to what is inside, they are not
//! there.

use seccompiler::{BpfProgram, sock_filter};

use super::rules::refused;
use crate::WallError;

/// The numbers from here on were not looked at (`open_tree_attr` is 467, `file_setattr` 469).
/// From 424 on they are the same on every architecture. x32 starts at 2³⁰.
const FIRST_UNKNOWN: u32 = 470;

pub(super) fn program() -> Result<BpfProgram, WallError> {
    let not_there = u32::try_from(libc::ENOSYS).map_err(refused)?;
    Ok(vec![
        statement(LOAD_WORD, NUMBER),
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: FIRST_UNKNOWN },
        statement(RETURN, libc::SECCOMP_RET_ERRNO | not_there),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
    ])
}

fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Where the call's number stands in what the filter is shown.
const NUMBER: u32 = 0;
const LOAD_WORD: u16 = 0x20;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
