//! What is done to a graph.

use super::{BRANCHES, PEOPLE};
use crate::engine::LoadMode;

/// Something that is done. Branches and commits are taken modulo what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A person, on a branch; made or changed.
    Put(usize, u8, Person),
    /// A person is gone, with what led there.
    Drop(usize, u8),
    /// An edge, made or changed.
    Tie(usize, u8, u8, u8),
    /// An edge is gone.
    Untie(usize, u8, u8),
    /// One of several edges between two, told apart by a number; gone if it is there like this.
    Call(usize, u8, u8, u8, u8),
    /// An edge to whatever has an interface; gone if it is there.
    Like(usize, u8, u8),
    /// A pet; gone if it is there.
    Pet(usize, u8),
    /// People and edges by bits of these, in a mode.
    Load(usize, u8, u16, LoadMode),
    /// The same on a new branch from this one.
    LoadNew(usize, u8, u16, LoadMode),
    /// A new branch from this one; of an older commit if there is a number.
    Fork(usize, Option<u8>),
    /// A branch is gone.
    Delete(usize),
    /// Into, from, how where they disagree, and whether data may be lost.
    Merge(usize, usize, Resolve, bool),
    /// A commit is taken back.
    Revert(usize, u8),
    /// The schema changes; whether data may be lost.
    Schema(usize, Change, bool),
    /// A change for where a branch once stood.
    Stale(usize, u8, Stale),
    /// The store is closed, or dropped as it is, and opened again.
    Reopen(bool),
}

/// What a person is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Person {
    /// The name.
    pub name: u8,
    /// The age.
    pub age: Option<u8>,
    /// The nickname, where there is one.
    pub nick: Option<u8>,
    /// The code; the last of them is a large number, where one fits.
    pub code: Option<u8>,
    /// The mail, where there is one; where there must be, there is.
    pub mail: Option<u8>,
}

/// What is too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// A mutation.
    Mutate,
    /// A load.
    Load,
    /// A load that makes a branch.
    LoadNew,
    /// Another schema.
    Schema,
    /// A merge, of whichever branch there is besides.
    Merge,
    /// A revert.
    Revert,
}

/// Who is right where both sides disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolve {
    /// Ours is.
    Ours,
    /// Theirs is.
    Theirs,
    /// The row goes.
    Gone,
    /// It becomes something else.
    Given,
    /// Nobody says.
    Not,
}

/// What becomes other in a schema: there if it was not, gone if it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The property `nick`.
    Nick,
    /// The type `Pet`.
    Pet,
    /// `name` is called `title`.
    Title,
    /// Ages are less than two.
    Range,
    /// Nicknames are unlike.
    Unique,
    /// Codes are.
    Code,
    /// Codes are of 64 bits.
    Wide,
    /// Codes are less than two.
    Check,
    /// The property `mail`.
    Mail,
    /// It must be there; it comes with that, if it was not there.
    Must,
    /// Nobody knows more than one.
    One,
    /// Everybody knows one or two.
    Some,
    /// People have the interface that likes end at.
    Being,
}

impl Change {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Nick,
        Self::Pet,
        Self::Title,
        Self::Range,
        Self::Unique,
        Self::Code,
        Self::Wide,
        Self::Check,
        Self::Mail,
        Self::Must,
        Self::One,
        Self::Some,
        Self::Being,
    ];
}

/// Bytes that one act is read from.
pub const ACT_BYTES: usize = 6;

impl Act {
    /// A history: one of the beginnings, and acts from these bytes.
    pub fn history(bytes: &[[u8; ACT_BYTES]]) -> Vec<Self> {
        let which = bytes.first().map_or(0, |[first, ..]| *first);
        [Self::opening(which), Self::of(bytes.as_flattened())].concat()
    }

    /// Two branches that have both gone on: where most of what can go wrong begins.
    fn opening(which: u8) -> Vec<Self> {
        let called = |name: u8| Person { name, ..Person::default() };
        let coded = |name: u8| Person { code: Some(1), ..called(name) };
        let mailed = |name: u8| Person { mail: Some(name), ..called(name) };
        let (both, from) = (Self::Fork(0, None), |how| Self::Merge(0, 1, how, true));
        match which % 8 {
            // They changed the same person, unlike.
            0..=2 => vec![
                Self::Put(0, 1, called(0)),
                both,
                Self::Put(0, 1, Person { age: Some(1), ..called(1) }),
                Self::Put(1, 1, called(2)),
            ],
            // A rule reads its property otherwise on one of them, and two are alike in it.
            3 => vec![
                Self::Schema(0, Change::Code, true),
                both,
                Self::Schema(1, Change::Wide, true),
                Self::Put(1, 1, coded(0)),
                Self::Put(0, 2, coded(1)),
                from(Resolve::Ours),
            ],
            // A property comes, is filled in, and must be there then.
            4 => vec![
                Self::Put(0, 1, called(0)),
                both,
                Self::Schema(1, Change::Mail, true),
                Self::Put(1, 1, mailed(1)),
                Self::Schema(1, Change::Must, true),
                from(Resolve::Ours),
            ],
            // Each ties somebody who may be tied once.
            5 | 6 => vec![
                Self::Put(0, 1, called(0)),
                Self::Put(0, 2, called(0)),
                Self::Schema(0, Change::One, true),
                both,
                Self::Tie(1, 1, 1, 0),
                Self::Tie(0, 1, 2, 0),
                from(Resolve::Ours),
            ],
            // What one writes the other has taken away.
            _ => vec![
                Self::Put(0, 1, called(0)),
                both,
                Self::Put(1, 1, Person { nick: Some(1), ..called(0) }),
                Self::Schema(0, Change::Nick, true),
                Self::Merge(0, 1, Resolve::Ours, false),
            ],
        }
    }

    /// Reads acts from any bytes.
    pub fn of(bytes: &[u8]) -> Vec<Self> {
        let (acts, _) = bytes.as_chunks::<ACT_BYTES>();
        acts.iter().copied().map(Self::one).collect()
    }

    fn one([what, branch, a, b, c, d]: [u8; ACT_BYTES]) -> Self {
        let branch = usize::from(branch) % BRANCHES;
        let (one, other) = (1 + a % PEOPLE, 1 + b % PEOPLE);
        let some = |byte: u8| (byte % 4).checked_sub(1);
        let load = || {
            let modes = [LoadMode::Merge, LoadMode::Append, LoadMode::Overwrite];
            (u16::from_le_bytes([b, c]), modes[usize::from(d) % 3])
        };
        let person = Person {
            name: b % 3,
            age: some(c),
            nick: some(d),
            code: some(c >> 2),
            mail: some(d >> 2),
        };
        match what % 42 {
            0..=7 => Self::Put(branch, one, person),
            36..=37 => Self::Call(branch, one, other, c % 2, d % 2),
            38 => Self::Like(branch, one, other),
            8 => Self::Drop(branch, one),
            9..=11 => Self::Tie(branch, one, other, c % 2),
            12 => Self::Untie(branch, one, other),
            13 => Self::Pet(branch, one),
            14..=15 => Self::Load(branch, a, load().0, load().1),
            16 => Self::LoadNew(branch, a, load().0, load().1),
            17..=19 => Self::Fork(branch, (a % 4 == 0).then_some(b)),
            20 => Self::Delete(branch),
            21..=28 => {
                let how = [Resolve::Ours, Resolve::Theirs, Resolve::Gone, Resolve::Given];
                let how = how.get(usize::from(b) % 5).copied().unwrap_or(Resolve::Not);
                Self::Merge(branch, usize::from(a) % BRANCHES, how, c % 4 > 0)
            }
            29..=30 => Self::Revert(branch, a),
            31..=32 | 39..=41 => {
                let all = Change::ALL;
                Self::Schema(branch, all[usize::from(a) % all.len()], c % 4 > 0)
            }
            33..=34 => {
                let all = [
                    Stale::Mutate,
                    Stale::Load,
                    Stale::LoadNew,
                    Stale::Schema,
                    Stale::Merge,
                    Stale::Revert,
                ];
                Self::Stale(branch, a, all[usize::from(b) % all.len()])
            }
            _ => Self::Reopen(a % 2 == 0),
        }
    }

    /// The branch that it changes, if it changes one that is there.
    pub(super) fn changes(&self) -> Option<usize> {
        match *self {
            Self::Put(branch, ..)
            | Self::Drop(branch, _)
            | Self::Tie(branch, ..)
            | Self::Untie(branch, ..)
            | Self::Call(branch, ..)
            | Self::Like(branch, ..)
            | Self::Pet(branch, _)
            | Self::Load(branch, ..)
            | Self::Merge(branch, ..)
            | Self::Revert(branch, _)
            | Self::Schema(branch, ..) => Some(branch),
            Self::LoadNew(..)
            | Self::Fork(..)
            | Self::Delete(_)
            | Self::Stale(..)
            | Self::Reopen(_) => None,
        }
    }
}
