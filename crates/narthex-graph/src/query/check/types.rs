//! What an expression is, before and after it meets what it is for.

use crate::Span;
use crate::lang::{Bounds, shown};
use crate::query::Expr;
use crate::schema::Kind;
use crate::value::Value;

/// An expression with what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Typed {
    /// The expression.
    pub(crate) expr: Expr,
    /// What it is.
    pub(crate) shape: Shape,
    /// Whether it may be null.
    pub(crate) nullable: bool,
    /// Where it is.
    pub(crate) span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// `null`.
    Null,
    /// A number, a text or a list as it is written; it becomes what it is compared with or set to.
    Literal,
    /// Of a kind.
    Of(Kind),
    /// A whole node.
    Node,
    /// A whole edge.
    Edge,
}

impl Typed {
    /// A value of this kind that is never null.
    pub(crate) const fn of(expr: Expr, kind: Kind, span: Span) -> Self {
        Self { expr, shape: Shape::Of(kind), nullable: false, span }
    }

    /// The value that is written here.
    pub(crate) const fn literal(&self) -> Option<&Value> {
        match (&self.shape, &self.expr) {
            (Shape::Literal, Expr::Const(value)) => Some(value),
            _ => None,
        }
    }

    /// Its kind: of a literal, the one it has where nothing else is asked of it.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match &self.shape {
            Shape::Of(kind) => Some(kind.clone()),
            Shape::Literal => self.literal().and_then(usual),
            _ => None,
        }
    }

    /// What it is, for a message.
    pub(crate) fn described(&self) -> String {
        match &self.shape {
            Shape::Null => "null".to_owned(),
            Shape::Literal => match self.literal() {
                Some(value @ (Value::Int(_) | Value::Float(_))) => {
                    format!("the number {}", shown(value))
                }
                Some(value @ Value::Text(_)) => format!("the text {}", shown(value)),
                _ => "a list".to_owned(),
            },
            Shape::Of(kind) => named(kind),
            Shape::Node => "a node".to_owned(),
            Shape::Edge => "an edge".to_owned(),
        }
    }
}

/// What a literal is where nothing else is asked of it.
fn usual(value: &Value) -> Option<Kind> {
    match value {
        Value::Int(number) if i64::try_from(*number).is_ok() => Some(Kind::I64),
        Value::Int(number) if u64::try_from(*number).is_ok() => Some(Kind::U64),
        Value::Float(_) => Some(Kind::F64),
        Value::Text(_) => Some(Kind::String),
        Value::Bool(_) => Some(Kind::Bool),
        Value::Date(_) => Some(Kind::Date),
        Value::DateTime(_) => Some(Kind::DateTime),
        Value::List(items) => {
            let kind = usual(items.first()?)?;
            let fits = |item: &Value| fit(item, &kind).is_ok();
            items.iter().all(fits).then(|| Kind::List(Box::new(kind.clone())))
        }
        _ => None,
    }
}

/// A kind's name, not too long for a message.
pub(crate) fn named(kind: &Kind) -> String {
    match kind {
        Kind::Enum(words) if words.len() > WORDS => {
            let some: Vec<&str> = words.iter().take(WORDS).map(String::as_str).collect();
            format!("enum({}, …)", some.join(", "))
        }
        Kind::List(item) => format!("[{}]", named(item)),
        _ => kind.to_string(),
    }
}

/// Why a literal is not of a kind, and what to do.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: Option<String>,
}

impl Misfit {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// A literal as a value of a kind, within the bounds that values have.
pub(crate) fn fit(value: &Value, kind: &Kind) -> Result<Value, Misfit> {
    let value = converted(value, kind)?;
    kind.fit(value).map_err(|why| match kind {
        Kind::Blob => Misfit::new("this is no absolute URI").help("like \"https://example.org/a\""),
        _ => Misfit::new(why.to_string()),
    })
}

fn converted(value: &Value, kind: &Kind) -> Result<Value, Misfit> {
    let unlike = || Misfit::new(format!("{} is no {}", shown(value), named(kind)));
    match (kind, value) {
        (_, Value::Int(number)) if kind.is_whole() => whole(*number, kind),
        (_, Value::Float(_)) if kind.is_whole() => {
            Err(Misfit::new(format!("{} is not whole, but {kind} is", shown(value))))
        }
        (Kind::F32 | Kind::F64, Value::Int(number)) => {
            #[expect(clippy::cast_precision_loss, reason = "it is looked whether any is lost")]
            let float = *number as f64;
            #[expect(clippy::cast_possible_truncation, reason = "what was whole stays so")]
            let same = float as i128 == *number;
            if same { converted(&Value::Float(float), kind) } else { Err(unlike()) }
        }
        (Kind::F64, Value::Float(_)) | (Kind::String | Kind::Blob, Value::Text(_)) => {
            Ok(value.clone())
        }
        (Kind::F32, Value::Float(number)) => {
            #[expect(clippy::cast_possible_truncation, reason = "it becomes what is stored")]
            let single = *number as f32;
            if single.is_finite() { Ok(Value::Float(f64::from(single))) } else { Err(unlike()) }
        }
        (Kind::Enum(words), Value::Text(text)) => word(text, words),
        (Kind::Date, Value::Text(_)) => Err(unlike().help("write `date(\"2026-01-31\")`")),
        (Kind::DateTime, Value::Text(_)) => {
            Err(unlike().help("write `datetime(\"2026-01-31T12:00:00Z\")`"))
        }
        (Kind::Vector(length), Value::List(items)) => vector(items, *length),
        (Kind::List(item), Value::List(items)) => {
            if items.len() > Bounds::LIST {
                return Err(Misfit::new(format!("a list has at most {} items", Bounds::LIST)));
            }
            items
                .iter()
                .map(|value| converted(value, item))
                .collect::<Result<_, _>>()
                .map(Value::List)
        }
        (Kind::List(_), _) => Err(unlike().help("a list is written `[…]`")),
        (Kind::Bool, Value::Bool(_))
        | (Kind::Date, Value::Date(_))
        | (Kind::DateTime, Value::DateTime(_)) => Ok(value.clone()),
        (Kind::String, Value::Int(_) | Value::Float(_)) => {
            Err(unlike().help("a text goes in quotes"))
        }
        _ => Err(unlike()),
    }
}

fn whole(number: i128, kind: &Kind) -> Result<Value, Misfit> {
    let (low, high) = match kind {
        Kind::I32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
        Kind::I64 => (i128::from(i64::MIN), i128::from(i64::MAX)),
        Kind::U32 => (0, i128::from(u32::MAX)),
        _ => (0, i128::from(u64::MAX)),
    };
    if (low..=high).contains(&number) {
        return Ok(Value::Int(number));
    }
    Err(Misfit::new(format!("{number} does not fit {kind}, which is {low} to {high}")))
}

fn word(text: &str, words: &[String]) -> Result<Value, Misfit> {
    if words.iter().any(|word| word == text) {
        return Ok(Value::Text(text.to_owned()));
    }
    let shown = shown(&Value::Text(text.to_owned()));
    let misfit = Misfit::new(format!("{shown} is none of its words"));
    Err(match crate::diagnostic::nearest(text, words.iter().map(String::as_str)) {
        Some(near) => misfit.help(format!("did you mean \"{near}\"?")),
        None => misfit,
    })
}

fn vector(items: &[Value], length: u32) -> Result<Value, Misfit> {
    if items.len() != length as usize {
        let message = format!("this has {} numbers, a Vector({length}) {length}", items.len());
        return Err(Misfit::new(message));
    }
    let number = |item: &Value| match converted(item, &Kind::F32) {
        #[expect(clippy::cast_possible_truncation, reason = "it is of single precision already")]
        Ok(Value::Float(number)) => Ok(number as f32),
        _ => Err(Misfit::new(format!("{} is no F32", shown(item)))),
    };
    items.iter().map(number).collect::<Result<_, _>>().map(Value::Vector)
}

/// Words of an enum that a message shows.
const WORDS: usize = 8;
