//! An error that nobody caught, in words a model can act on.

use rquickjs::{Ctx, Object, Value};

use crate::shape::Shaped;
use crate::wire::{MAX_MESSAGE, Threw, cut};

/// What was thrown last.
pub(super) fn caught(ctx: &Ctx<'_>, program: &Shaped) -> Threw {
    let thrown = ctx.catch();
    let Some(object) = thrown.as_object() else {
        return Threw { name: "Error".to_owned(), message: shown(&thrown), ..Threw::default() };
    };
    let text = |name: &str| text_of(object, name);
    let at = text("stack").as_deref().and_then(place);
    Threw {
        name: text("name").unwrap_or_else(|| "Error".to_owned()),
        message: text("message").unwrap_or_else(|| shown(&thrown)),
        code: text("code"),
        at: at.map(|(line, column)| program.original(line, column)),
    }
    .bounded()
}

/// A property that is a text. A getter that throws has none.
fn text_of(object: &Object<'_>, name: &str) -> Option<String> {
    let value: Result<Value<'_>, _> = object.get(name);
    let Ok(value) = value else {
        object.ctx().catch();
        return None;
    };
    value.as_string().and_then(|text| text.to_string().ok())
}

/// Something that is no error, as JSON.
fn shown(value: &Value<'_>) -> String {
    let text = value.ctx().json_stringify(value.clone());
    let text = text.ok().flatten().and_then(|text| text.to_string().ok());
    let text = text.unwrap_or_else(|| {
        value.ctx().catch();
        value.type_of().to_string()
    });
    cut(format!("threw {text}"), MAX_MESSAGE)
}

/// The innermost place in the program that a stack names: `at f (script:3:11)`.
fn place(stack: &str) -> Option<(u32, u32)> {
    stack.lines().find_map(|line| {
        let (_, place) = line.rsplit_once("script:")?;
        let mut numbers = place.trim_end_matches(')').split(':');
        let line: u32 = numbers.next()?.parse().ok()?;
        let column: u32 = numbers.next().and_then(|column| column.parse().ok()).unwrap_or(1);
        // The engine counts the columns of the first line from 0, and says 1 for it too.
        Some((line, if line == 1 && column > 1 { column.saturating_add(1) } else { column }))
    })
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn the_innermost_place_in_the_program_is_named() {
        let stack = "    at ask (host:90:20)\n    at f (script:3:11)\n    at <eval> (script:9:1)\n";
        assert_eq!(place(stack), Some((3, 11)));
        assert_eq!(place("    at <eval> (script:2)\n"), Some((2, 1)));
        assert_eq!(place("    at native\n"), None);
    }
}
