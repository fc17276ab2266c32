//! What an expression is worth.
//!
//! Conditions have three answers: yes, no, and null where it cannot be told. Arithmetic never wraps
//! and never gives what is no number.

use std::borrow::Cow;
use std::cmp::Ordering;

use chrono::{DateTime, Utc};

use super::ExecError;
use crate::query::{Aggregate, BinaryOp, Expr, Function, PropertyRef, UnaryOp, VarNo};
use crate::schema::Check;
use crate::value::{Value, fuzzy_all, matches_all};

/// What the names in an expression stand for.
pub(super) trait Scope {
    /// A property of a variable; null if the variable is.
    fn property(&self, var: VarNo, property: &PropertyRef) -> Result<Cow<'_, Value>, ExecError>;

    /// Something that is the same for the same node or edge only; null if the variable is.
    fn identity(&self, _: VarNo) -> Result<Value, ExecError> {
        Err(ExecError::Plan("a whole row cannot stand here"))
    }

    /// A column of the answer.
    fn column(&self, _: usize) -> Result<Cow<'_, Value>, ExecError> {
        Err(ExecError::Plan("a column cannot stand here"))
    }

    /// An aggregate.
    fn fold(&self, _: &Aggregate) -> Result<Cow<'_, Value>, ExecError> {
        Err(ExecError::Plan("an aggregate cannot stand here"))
    }

    /// What `bm25` of these is.
    fn score(&self, _: &[Expr]) -> Result<Value, ExecError> {
        Err(ExecError::Unsupported("bm25 cannot be used here".to_owned()))
    }
}

/// Evaluates expressions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eval<'a> {
    pub(super) params: &'a [Value],
    pub(super) now: DateTime<Utc>,
}

impl Eval<'_> {
    /// What it is worth.
    pub(super) fn value<'r>(
        &'r self,
        expr: &'r Expr,
        scope: &'r dyn Scope,
    ) -> Result<Cow<'r, Value>, ExecError> {
        match expr {
            Expr::Const(value) => Ok(Cow::Borrowed(value)),
            Expr::Param(number) => {
                self.params.get(*number).map(Cow::Borrowed).ok_or(ExecError::MissingParam(*number))
            }
            Expr::Var(var) => scope.identity(*var).map(Cow::Owned),
            Expr::Property(var, property) => scope.property(*var, property),
            Expr::Column(number) => scope.column(*number),
            Expr::Unary(op, of) => unary(*op, &*self.value(of, scope)?).map(Cow::Owned),
            Expr::Binary(BinaryOp::And, a, b) => self.both(a, b, scope).map(Cow::Owned),
            Expr::Binary(BinaryOp::Or, a, b) => self.either(a, b, scope).map(Cow::Owned),
            Expr::Binary(op, a, b) => {
                binary(*op, &*self.value(a, scope)?, &*self.value(b, scope)?).map(Cow::Owned)
            }
            Expr::Call(function, args) => self.call(*function, args, scope),
            Expr::List(items) => {
                let items = items.iter().map(|item| Ok(self.value(item, scope)?.into_owned()));
                items.collect::<Result<_, ExecError>>().map(|items| Cow::Owned(Value::List(items)))
            }
            Expr::Fold(aggregate) => scope.fold(aggregate),
        }
    }

    /// Whether it is true: neither false nor null.
    pub(super) fn holds(&self, expr: &Expr, scope: &dyn Scope) -> Result<bool, ExecError> {
        Ok(*self.value(expr, scope)? == Value::Bool(true))
    }

    fn both(&self, a: &Expr, b: &Expr, scope: &dyn Scope) -> Result<Value, ExecError> {
        let a = truth(&*self.value(a, scope)?)?;
        if a == Some(false) {
            return Ok(Value::Bool(false));
        }
        Ok(match (a, truth(&*self.value(b, scope)?)?) {
            (_, Some(false)) => Value::Bool(false),
            (Some(true), Some(true)) => Value::Bool(true),
            _ => Value::Null,
        })
    }

    fn either(&self, a: &Expr, b: &Expr, scope: &dyn Scope) -> Result<Value, ExecError> {
        let a = truth(&*self.value(a, scope)?)?;
        if a == Some(true) {
            return Ok(Value::Bool(true));
        }
        Ok(match (a, truth(&*self.value(b, scope)?)?) {
            (_, Some(true)) => Value::Bool(true),
            (Some(false), Some(false)) => Value::Bool(false),
            _ => Value::Null,
        })
    }

    fn call<'r>(
        &'r self,
        function: Function,
        args: &'r [Expr],
        scope: &'r dyn Scope,
    ) -> Result<Cow<'r, Value>, ExecError> {
        match (function, args) {
            (Function::Now, _) => Ok(Cow::Owned(Value::DateTime(self.now))),
            (Function::Bm25, _) => scope.score(args).map(Cow::Owned),
            (Function::Rrf, _) => Err(ExecError::Unsupported(
                "rrf stands alone, as a column or in `order`: not inside another expression"
                    .to_owned(),
            )),
            (Function::Coalesce, _) => {
                for arg in args {
                    let value = self.value(arg, scope)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Ok(Cow::Owned(Value::Null))
            }
            (_, [one]) => function_of_one(function, &*self.value(one, scope)?).map(Cow::Owned),
            (_, [a, b]) => {
                let (a, b) = (self.value(a, scope)?, self.value(b, scope)?);
                function_of_two(function, &a, &b).map(Cow::Owned)
            }
            _ => Err(ExecError::Plan("a function with too many arguments")),
        }
    }
}

/// Whether a check holds for a row with these values. Where it cannot be told (null) it does.
pub fn check_holds(check: &Check, values: &[Value], now: DateTime<Utc>) -> Result<bool, ExecError> {
    let (eval, row) = (Eval { params: &[], now }, OneRow(values));
    let value = eval.value(&check.holds, &row)?;
    Ok(*value != Value::Bool(false))
}

/// A row that is variable 0.
pub(super) struct OneRow<'a>(pub(super) &'a [Value]);

impl Scope for OneRow<'_> {
    fn property(&self, var: VarNo, property: &PropertyRef) -> Result<Cow<'_, Value>, ExecError> {
        let number = property.0.first().filter(|_| var == VarNo(0));
        let value = number.and_then(|number| self.0.get(number.0));
        value.map(Cow::Borrowed).ok_or(ExecError::Plan("no such property"))
    }
}

/// No variable at all: for what only parameters are in.
pub(super) struct NoRow;

impl Scope for NoRow {
    fn property(&self, _: VarNo, _: &PropertyRef) -> Result<Cow<'_, Value>, ExecError> {
        Err(ExecError::Plan("a variable cannot stand here"))
    }
}

fn truth(value: &Value) -> Result<Option<bool>, ExecError> {
    match value {
        Value::Bool(yes) => Ok(Some(*yes)),
        Value::Null => Ok(None),
        _ => Err(ExecError::Plan("a condition that is neither true nor false")),
    }
}

fn unary(op: UnaryOp, value: &Value) -> Result<Value, ExecError> {
    match (op, value) {
        (UnaryOp::IsNull, value) => Ok(Value::Bool(value.is_null())),
        (UnaryOp::Not, value) => Ok(truth(value)?.map_or(Value::Null, |yes| Value::Bool(!yes))),
        (UnaryOp::Minus, Value::Null) => Ok(Value::Null),
        (UnaryOp::Minus, Value::Int(number)) => {
            number.checked_neg().map(Value::Int).ok_or_else(|| overflow("the negative", value))
        }
        (UnaryOp::Minus, Value::Float(number)) => Ok(Value::Float(-number)),
        (UnaryOp::Minus, _) => Err(ExecError::Plan("the negative of what is no number")),
    }
}

fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, ExecError> {
    let compared = |holds: fn(Ordering) -> bool| {
        Ok(a.compare(b).map_or(Value::Null, |order| Value::Bool(holds(order))))
    };
    match op {
        BinaryOp::Equal => compared(Ordering::is_eq),
        BinaryOp::NotEqual => compared(Ordering::is_ne),
        BinaryOp::Less => compared(Ordering::is_lt),
        BinaryOp::LessOrEqual => compared(Ordering::is_le),
        BinaryOp::Greater => compared(Ordering::is_gt),
        BinaryOp::GreaterOrEqual => compared(Ordering::is_ge),
        BinaryOp::And | BinaryOp::Or => Err(ExecError::Plan("conditions have their own way")),
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Modulo => arithmetic(op, a, b),
    }
}

fn arithmetic(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, ExecError> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Int(x), Value::Int(y)) => {
            let result = match op {
                BinaryOp::Add => x.checked_add(*y),
                BinaryOp::Subtract => x.checked_sub(*y),
                BinaryOp::Multiply => x.checked_mul(*y),
                _ if *y == 0 => return Err(ExecError::DivisionByZero),
                BinaryOp::Divide => x.checked_div(*y),
                _ => x.checked_rem(*y),
            };
            result.map(Value::Int).ok_or_else(|| overflow("a result", a))
        }
        _ => {
            let (Some(x), Some(y)) = (as_float(a), as_float(b)) else {
                return Err(ExecError::Plan("arithmetic with what is no number"));
            };
            let result = match op {
                BinaryOp::Add => x + y,
                BinaryOp::Subtract => x - y,
                BinaryOp::Multiply => x * y,
                _ if y == 0.0 => return Err(ExecError::DivisionByZero),
                BinaryOp::Divide => x / y,
                _ => x % y,
            };
            finite(result)
        }
    }
}

fn function_of_one(function: Function, value: &Value) -> Result<Value, ExecError> {
    match (function, value) {
        (_, Value::Null) => Ok(Value::Null),
        (Function::Lower, Value::Text(text)) => Ok(Value::Text(text.to_lowercase())),
        (Function::Upper, Value::Text(text)) => Ok(Value::Text(text.to_uppercase())),
        (Function::Length, Value::Text(text)) => Ok(count(text.chars().count())),
        (Function::Length, Value::List(items)) => Ok(count(items.len())),
        _ => Err(ExecError::Plan("a function of another kind of value")),
    }
}

fn function_of_two(function: Function, a: &Value, b: &Value) -> Result<Value, ExecError> {
    match (function, a, b) {
        (_, Value::Null, _) | (_, _, Value::Null) => Ok(Value::Null),
        (Function::StartsWith, Value::Text(text), Value::Text(start)) => {
            Ok(Value::Bool(text.starts_with(start.as_str())))
        }
        (Function::Contains, Value::Text(text), Value::Text(part)) => {
            Ok(Value::Bool(text.contains(part.as_str())))
        }
        (Function::Contains, Value::List(items), item) => {
            let has = items.iter().any(|of| of.compare(item) == Some(Ordering::Equal));
            Ok(Value::Bool(has))
        }
        (Function::MatchText, Value::Text(text), Value::Text(query)) => {
            Ok(Value::Bool(matches_all(text, query)))
        }
        (Function::Fuzzy, Value::Text(text), Value::Text(query)) => {
            Ok(Value::Bool(fuzzy_all(text, query)))
        }
        (Function::Nearest, Value::Vector(these), Value::Vector(those)) => distance(these, those),
        _ => Err(ExecError::Plan("a function of another kind of value")),
    }
}

/// The cosine distance, from 0 (the same direction) to 2. Null where one has no direction.
fn distance(these: &[f32], those: &[f32]) -> Result<Value, ExecError> {
    if these.len() != those.len() {
        return Err(ExecError::Plan("vectors of unlike length"));
    }
    let (mut dot, mut this_square, mut that_square) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (this, that) in these.iter().zip(those) {
        let (this, that) = (f64::from(*this), f64::from(*that));
        dot += this * that;
        this_square += this * this;
        that_square += that * that;
    }
    let lengths = this_square.sqrt() * that_square.sqrt();
    if lengths == 0.0 {
        return Ok(Value::Null);
    }
    finite((1.0 - dot / lengths).clamp(0.0, 2.0))
}

/// A number as a float, rounded where it must be.
#[expect(clippy::cast_precision_loss, reason = "a float was asked for")]
pub(super) fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// A float that is a number.
pub(super) fn finite(number: f64) -> Result<Value, ExecError> {
    if number.is_finite() {
        Ok(Value::Float(number))
    } else {
        Err(ExecError::Overflow("a result is beyond the largest float".to_owned()))
    }
}

pub(super) fn count(length: usize) -> Value {
    Value::Int(i128::try_from(length).unwrap_or(i128::MAX))
}

fn overflow(what: &str, of: &Value) -> ExecError {
    ExecError::Overflow(match of {
        Value::Int(number) => format!("{what} with {number} does not fit"),
        _ => format!("{what} does not fit"),
    })
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::{Eval, NoRow, check_holds};
    use crate::exec::ExecError;
    use crate::query::{BinaryOp, Expr, Function, PropertyNo, PropertyRef, UnaryOp, VarNo};
    use crate::schema::Check;
    use crate::value::Value;
    use crate::value::Value::{Bool, Float, Int, Null};

    fn eval(expr: &Expr) -> Result<Value, ExecError> {
        let eval = Eval { params: &[], now: DateTime::UNIX_EPOCH };
        eval.value(expr, &NoRow).map(std::borrow::Cow::into_owned)
    }

    fn two(op: BinaryOp, a: Value, b: Value) -> Expr {
        Expr::Binary(op, Box::new(Expr::Const(a)), Box::new(Expr::Const(b)))
    }

    #[test]
    fn conditions_have_three_answers() {
        let values = [Bool(true), Null, Bool(false)];
        let and = [[0, 1, 2], [1, 1, 2], [2, 2, 2]];
        let or = [[0, 0, 0], [0, 1, 1], [0, 1, 2]];
        for (a, left) in values.iter().enumerate() {
            for (b, right) in values.iter().enumerate() {
                for (op, table) in [(BinaryOp::And, and), (BinaryOp::Or, or)] {
                    let found = eval(&two(op, left.clone(), right.clone())).unwrap();
                    assert_eq!(found, values[table[a][b]], "{left:?} {op:?} {right:?}");
                }
            }
            let not = Expr::Unary(UnaryOp::Not, Box::new(Expr::Const(left.clone())));
            assert_eq!(eval(&not).unwrap(), values[2 - a]);
        }
    }

    #[test]
    fn comparisons_are_exact_and_null_with_null() {
        let big = (1_i128 << 53) + 1;
        #[expect(clippy::cast_precision_loss, reason = "that it is lost is the point")]
        let rounded = big as f64;
        for (op, a, b, expected) in [
            (BinaryOp::Equal, Int(1), Float(1.0), Bool(true)),
            (BinaryOp::Equal, Int(big), Float(rounded), Bool(false)),
            (BinaryOp::Greater, Int(big), Float(rounded), Bool(true)),
            (BinaryOp::NotEqual, Int(1), Null, Null),
            (BinaryOp::Equal, Null, Null, Null),
            (BinaryOp::LessOrEqual, Int(2), Int(2), Bool(true)),
            (BinaryOp::Add, Int(1), Null, Null),
        ] {
            assert_eq!(
                eval(&two(op, a.clone(), b.clone())).unwrap(),
                expected,
                "{a:?} {op:?} {b:?}"
            );
        }
    }

    #[test]
    fn arithmetic_gives_a_number_or_an_error() {
        for (op, a, b, expected) in [
            (BinaryOp::Divide, Int(-7), Int(2), Some(Int(-3))),
            (BinaryOp::Modulo, Int(-7), Int(2), Some(Int(-1))),
            (BinaryOp::Divide, Int(7), Float(2.0), Some(Float(3.5))),
            (BinaryOp::Add, Int(i128::MAX), Int(1), None),
            (BinaryOp::Subtract, Int(i128::MIN), Int(1), None),
            (BinaryOp::Multiply, Int(i128::MAX), Int(2), None),
            (BinaryOp::Divide, Int(i128::MIN), Int(-1), None),
            (BinaryOp::Modulo, Int(i128::MIN), Int(-1), None),
            (BinaryOp::Multiply, Float(f64::MAX), Float(2.0), None),
        ] {
            let found = eval(&two(op, a.clone(), b.clone()));
            match expected {
                Some(expected) => assert_eq!(found.unwrap(), expected),
                None => assert!(matches!(found, Err(ExecError::Overflow(_))), "{a:?} {op:?} {b:?}"),
            }
        }
        for zero in [Int(0), Float(0.0), Float(-0.0)] {
            for op in [BinaryOp::Divide, BinaryOp::Modulo] {
                let found = eval(&two(op, Int(1), zero.clone()));
                assert!(matches!(found, Err(ExecError::DivisionByZero)), "{op:?} {zero:?}");
            }
        }
        let least = Expr::Unary(UnaryOp::Minus, Box::new(Expr::Const(Int(i128::MIN))));
        assert!(matches!(eval(&least), Err(ExecError::Overflow(_))));
    }

    #[test]
    fn distance_is_of_directions() {
        let near = |a: &[f32], b: &[f32]| {
            let vector = |of: &[f32]| Expr::Const(Value::Vector(of.to_vec()));
            eval(&Expr::Call(Function::Nearest, vec![vector(a), vector(b)]))
        };
        assert_eq!(near(&[1.0, 0.0], &[5.0, 0.0]).unwrap(), Float(0.0));
        assert_eq!(near(&[1.0, 0.0], &[0.0, 2.0]).unwrap(), Float(1.0));
        assert_eq!(near(&[1.0, 0.0], &[-3.0, 0.0]).unwrap(), Float(2.0));
        assert_eq!(near(&[0.0, 0.0], &[1.0, 0.0]).unwrap(), Null);
        assert!(near(&[1.0], &[1.0, 0.0]).is_err());
    }

    #[test]
    fn a_check_that_cannot_be_told_holds() {
        let low = Expr::Property(VarNo(0), PropertyRef(vec![PropertyNo(0)]));
        let holds = Expr::Binary(BinaryOp::Less, Box::new(low), Box::new(Expr::Const(Int(3))));
        let check = Check { source: "low < 3".to_owned(), holds };
        for (value, expected) in [(Int(2), true), (Int(3), false), (Null, true)] {
            assert_eq!(check_holds(&check, &[value], DateTime::UNIX_EPOCH).unwrap(), expected);
        }
        assert!(check_holds(&check, &[], DateTime::UNIX_EPOCH).is_err());
    }
}
