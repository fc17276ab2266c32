//! Rules about system calls, in words of our own.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::{Wall, WallError};

/// When a rule about a system call holds. Arguments are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whatever its arguments.
    Always,
    /// When one argument is so.
    Arg(u8, Test),
    /// When all of these are so.
    Args(&'static [(u8, Test)]),
}

/// How an argument is. It is compared as 32 bits, which is all the kernel reads of those that
/// are worth comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// This.
    Is(u32),
    /// Anything but this.
    Not(u32),
    /// With all of these bits set.
    Has(u32),
    /// This, under a mask (the first).
    Masked(u32, u32),
}

impl When {
    fn rule(self) -> Result<Option<SeccompRule>, WallError> {
        let conditions = match self {
            Self::Always => return Ok(None),
            Self::Arg(argument, test) => vec![test.of(argument)?],
            Self::Args(tests) => {
                tests.iter().map(|(argument, test)| test.of(*argument)).collect::<Result<_, _>>()?
            }
        };
        SeccompRule::new(conditions).map(Some).map_err(refused)
    }
}

impl Test {
    fn of(self, argument: u8) -> Result<SeccompCondition, WallError> {
        let (op, value) = match self {
            Self::Is(value) => (SeccompCmpOp::Eq, value),
            Self::Not(value) => (SeccompCmpOp::Ne, value),
            Self::Has(bits) => (SeccompCmpOp::MaskedEq(bits.into()), bits),
            Self::Masked(mask, value) => (SeccompCmpOp::MaskedEq(mask.into()), value),
        };
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value.into()).map_err(refused)
    }
}

/// Rules by the number of the call. One without a condition swallows the others of its call.
#[derive(Debug, Default)]
pub(super) struct Rules(BTreeMap<i64, Option<Vec<SeccompRule>>>);

impl Rules {
    pub(super) fn add(&mut self, call: i64, when: When) -> Result<(), WallError> {
        let rule = when.rule()?;
        let rules = self.0.entry(call).or_insert_with(|| Some(Vec::new()));
        *rules = rules.take().zip(rule).map(|(mut rules, rule)| {
            rules.push(rule);
            rules
        });
        Ok(())
    }

    /// The rules as the kernel reads them: what becomes of a call they hold for, and of others.
    pub(super) fn program(
        self,
        held: SeccompAction,
        other: SeccompAction,
    ) -> Result<BpfProgram, WallError> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(refused)?;
        let rules = self.0.into_iter().map(|(call, rules)| (call, rules.unwrap_or_default()));
        let filter = SeccompFilter::new(rules.collect(), other, held, arch).map_err(refused)?;
        BpfProgram::try_from(filter).map_err(refused)
    }
}

pub(super) fn refused(error: impl std::fmt::Display) -> WallError {
    WallError::refused(Wall::Calls, error)
}
