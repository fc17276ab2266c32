//! The two ways it is written: one line for digests, many for people.

use super::{Key, Kind, Node};

/// One text a value: keys in the order of their bytes, no white space, numbers as they came.
pub(crate) fn canonical(node: &Node) -> String {
    let mut out = String::new();
    write(node, None, &mut out);
    out
}

/// The same over many lines, for a diff.
pub(crate) fn pretty(node: &Node) -> String {
    let mut out = String::new();
    write(node, Some(0), &mut out);
    out.push('\n');
    out
}

/// Depth was bounded when it was read.
fn write(node: &Node, indent: Option<usize>, out: &mut String) {
    match &node.kind {
        Kind::Null => out.push_str("null"),
        Kind::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Kind::Number(text) => out.push_str(text),
        Kind::Text(text) => quote(text, out),
        Kind::List(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                between(n, indent, out);
                write(item, indent.map(|by| by + 1), out);
            }
            close(']', items.is_empty(), indent, out);
        }
        Kind::Object(entries) => {
            let mut entries: Vec<&(Key, Node)> = entries.iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.name.as_bytes().cmp(b.name.as_bytes()));
            out.push('{');
            for (n, (key, value)) in entries.iter().enumerate() {
                between(n, indent, out);
                quote(&key.name, out);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                write(value, indent.map(|by| by + 1), out);
            }
            close('}', entries.is_empty(), indent, out);
        }
    }
}

fn between(n: usize, indent: Option<usize>, out: &mut String) {
    if n > 0 {
        out.push(',');
    }
    if let Some(by) = indent {
        line(by + 1, out);
    }
}

fn close(end: char, empty: bool, indent: Option<usize>, out: &mut String) {
    if let (false, Some(by)) = (empty, indent) {
        line(by, out);
    }
    out.push(end);
}

fn line(indent: usize, out: &mut String) {
    out.push('\n');
    out.push_str(&"  ".repeat(indent));
}

fn quote(text: &str, out: &mut String) {
    // Text can always be written as JSON.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::super::{Reading, read};
    use super::{canonical, pretty};

    const READING: Reading = Reading { comments: false, bytes: 10_000, depth: 8, nodes: 100 };

    #[test]
    fn order_and_blanks_do_not_matter_and_everything_else_does() {
        let of = |text: &str| canonical(&read(text, &READING).unwrap());
        assert_eq!(of(r#"{ "b" : [ 1 ], "a" : "\u00e9" }"#), "{\"a\":\"\u{e9}\",\"b\":[1]}");
        for (a, b) in [
            ("1", "1.0"),
            ("0.1", "0.1000000000000000055"),
            ("18446744073709551616", "18446744073709551617"),
            ("[1,2]", "[2,1]"),
            ("{\"a\":null}", "{}"),
            ("\"a\"", "\"a \""),
        ] {
            assert_ne!(of(a), of(b), "{a} {b}");
        }
    }

    #[test]
    fn people_see_a_line_a_value() {
        let node = read(r#"{"b":[1,{}],"a":[]}"#, &READING).unwrap();
        let lines = "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {}\n  ]\n}\n";
        assert_eq!(pretty(&node), lines);
    }
}
