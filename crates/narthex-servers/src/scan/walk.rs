//! Every text of a value with its place.

use serde_json::Value;

/// A text in a value.
pub(super) struct Spot<'a> {
    pub(super) text: &'a str,
    /// Whether it is a key.
    pub(super) is_key: bool,
    path: &'a [Step<'a>],
}

/// A step into a value.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

impl Spot<'_> {
    /// Where it is, as a JSON pointer.
    pub(super) fn place(&self) -> String {
        pointer(self.path)
    }

    /// The key it stands under.
    pub(super) fn key(&self) -> Option<&str> {
        self.path.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Item(_) => None,
        })
    }
}

/// Calls with every text and key. The depth was bounded when the value was read.
pub(super) fn texts<'a>(value: &'a Value, see: &mut dyn FnMut(&Spot<'_>)) {
    let mut path: Vec<Step<'a>> = Vec::new();
    walk(value, &mut path, see);
}

fn walk<'a>(value: &'a Value, path: &mut Vec<Step<'a>>, see: &mut dyn FnMut(&Spot<'_>)) {
    match value {
        Value::String(text) => see(&Spot { text, is_key: false, path }),
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                path.push(Step::Item(n));
                walk(item, path, see);
                path.pop();
            }
        }
        Value::Object(map) => {
            for (key, inner) in map {
                path.push(Step::Key(key));
                see(&Spot { text: key, is_key: true, path });
                walk(inner, path, see);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A path as a JSON pointer.
pub(super) fn pointer(path: &[Step<'_>]) -> String {
    let mut out = String::new();
    for step in path {
        out.push('/');
        match step {
            Step::Key(key) => out.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Step::Item(n) => out.push_str(&n.to_string()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::texts;

    #[test]
    fn every_text_has_its_place() {
        let value = json!({"a/b": ["x", {"c~": "y"}], "d": 1});
        let mut seen = Vec::new();
        texts(&value, &mut |spot| seen.push((spot.text.to_owned(), spot.place(), spot.is_key)));
        let expected = [
            ("a/b", "/a~1b", true),
            ("x", "/a~1b/0", false),
            ("c~", "/a~1b/1/c~0", true),
            ("y", "/a~1b/1/c~0", false),
            ("d", "/d", true),
        ];
        let expected = expected.map(|(t, p, k)| (t.to_owned(), p.to_owned(), k));
        assert_eq!(seen, expected);
        for (text, place, is_key) in seen {
            if !is_key {
                assert_eq!(value.pointer(&place).unwrap(), text.as_str());
            }
        }
    }
}
