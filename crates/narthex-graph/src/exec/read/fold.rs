//! Aggregates.

use std::collections::HashSet;

use crate::exec::ExecError;
use crate::exec::eval::{as_float, finite};
use crate::query::{Aggregate, Fold};
use crate::value::{GroupKey, Value};

/// An aggregate over what was seen so far.
#[derive(Debug)]
pub(super) struct Folding {
    fold: Fold,
    /// Values that count once, and did.
    #[expect(clippy::box_collection, reason = "most have none, and there may be very many")]
    seen: Option<Box<HashSet<GroupKey>>>,
    count: u64,
    /// The sum, the least or the greatest.
    value: Value,
}

impl Folding {
    pub(super) fn new(aggregate: &Aggregate) -> Self {
        let seen = aggregate.distinct.then(Box::default);
        Self { fold: aggregate.fold, seen, count: 0, value: Value::Null }
    }

    /// One more. Nulls do not count.
    pub(super) fn take(&mut self, value: &Value) -> Result<(), ExecError> {
        if value.is_null() || self.seen.as_mut().is_some_and(|seen| !seen.insert(value.group_key()))
        {
            return Ok(());
        }
        self.count += 1;
        match self.fold {
            Fold::Count => {}
            Fold::Sum | Fold::Avg => self.value = plus(&self.value, value)?,
            Fold::Min => self.keep(value, std::cmp::Ordering::is_lt),
            Fold::Max => self.keep(value, std::cmp::Ordering::is_gt),
        }
        Ok(())
    }

    /// How many values it remembers.
    pub(super) fn held(&self) -> u64 {
        self.seen.as_ref().map_or(0, |seen| seen.len() as u64)
    }

    fn keep(&mut self, value: &Value, better: fn(std::cmp::Ordering) -> bool) {
        if self.value.is_null() || better(value.total(&self.value)) {
            self.value = value.clone();
        }
    }

    /// What it comes to.
    #[expect(clippy::cast_precision_loss, reason = "a mean is a float")]
    pub(super) fn result(self) -> Result<Value, ExecError> {
        match self.fold {
            Fold::Count => Ok(Value::Int(self.count.into())),
            Fold::Avg => match as_float(&self.value) {
                Some(sum) => finite(sum / self.count as f64),
                None => Ok(Value::Null),
            },
            Fold::Sum | Fold::Min | Fold::Max => Ok(self.value),
        }
    }
}

fn plus(sum: &Value, value: &Value) -> Result<Value, ExecError> {
    match (sum, value) {
        (Value::Null, Value::Int(_) | Value::Float(_)) => Ok(value.clone()),
        (Value::Int(a), Value::Int(b)) => a
            .checked_add(*b)
            .map(Value::Int)
            .ok_or_else(|| ExecError::Overflow("a sum does not fit".to_owned())),
        _ => match (as_float(sum), as_float(value)) {
            (Some(a), Some(b)) => finite(a + b),
            _ => Err(ExecError::Plan("a sum of what are no numbers")),
        },
    }
}
