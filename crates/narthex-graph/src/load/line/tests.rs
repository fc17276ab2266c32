//! Lines that are taken, lines that are not, and that what is written is read again.

use proptest::prelude::*;
use serde_json::json;

use super::{LoadEdge, LoadLine, LoadNode, parse};
use crate::load::{export_edge, export_node};
use crate::query::{EdgeNo, NodeNo};
use crate::rows::EdgeBody;
use crate::schema::{EdgeType, Interface, Kind, NodeType, Property, Range, Schema};
use crate::value::Value;
use crate::value::samples::{edge_type, kinds, node_type, of_kind, property};

fn all_kinds() -> Vec<Property> {
    let property = |(n, kind)| property(&format!("p{n}"), kind);
    kinds().into_iter().enumerate().map(property).collect()
}

fn schema() -> Schema {
    let required = |name: &str, kind| Property { nullable: false, ..property(name, kind) };
    let age = Property {
        range: Some(Range { low: Some(Value::Int(0)), high: None }),
        ..property("age", Kind::I32)
    };
    let mut person = vec![required("slug", Kind::String), age];
    person.extend(all_kinds());
    let named = |node: NodeType| NodeType { interfaces: vec!["Named".to_owned()], ..node };
    let room = NodeType {
        // Its rows are under its first name.
        slot: "Chamber".to_owned(),
        ..named(node_type("Room", vec![required("number", Kind::I32)]))
    };
    let plays = vec![property("role", Kind::String), property("since", Kind::Date)];
    Schema {
        nodes: vec![
            named(node_type("Person", person)),
            room,
            node_type("Day", vec![required("on", Kind::Date)]),
        ],
        edges: vec![
            edge_type("Knows", "Person", "Person", all_kinds()),
            EdgeType { key: vec![0], ..edge_type("Plays", "Person", "Named", plays) },
            edge_type("SleptIn", "Person", "Room", vec![]),
        ],
        interfaces: vec![Interface {
            name: "Named".to_owned(),
            properties: vec![],
            description: None,
        }],
        ..Schema::default()
    }
}

#[test]
fn ends_are_keys_of_their_types() {
    let person = |key: &str| (NodeNo(0), key.to_owned());
    let room = |key: &str| (NodeNo(1), key.to_owned());
    for (line, edge, from, to) in [
        (json!({"edge": "SleptIn", "from": "ada", "to": "7"}), 2, person("ada"), room("7")),
        (json!({"edge": "SleptIn", "from": "ada", "to": 7}), 2, person("ada"), room("7")),
        (
            json!({"edge": "SleptIn", "from": {"type": "Person", "key": "ada"}, "to": "-7", "data": {}}),
            2,
            person("ada"),
            room("-7"),
        ),
        (
            json!({"edge": "Plays", "from": "ada", "to": {"type": "Room", "key": "7"}}),
            1,
            person("ada"),
            room("7"),
        ),
        (
            json!({"edge": "Plays", "from": "ada", "to": {"key": "bob", "type": "Person"}}),
            1,
            person("ada"),
            person("bob"),
        ),
    ] {
        let LoadLine::Edge(read) = parse(&schema(), 1, &line.to_string()).unwrap() else {
            panic!("no edge: {line}")
        };
        assert_eq!((read.edge, read.from, read.to), (EdgeNo(edge), from, to), "{line}");
        assert!(read.values.iter().all(Value::is_null));
    }
}

#[test]
fn nothing_is_passed_over() {
    let interface_end = r#"an end of several types is {"type":"…","key":"…"}"#;
    for (line, said) in [
        ("[]", "line 3: a line is a JSON object"),
        ("{", "line 3: no JSON to be taken, at byte 1: EOF while parsing an object"),
        ("{}", "line 3: a line has either `type`, of a node, or `edge`, of an edge"),
        (
            r#"{"type":"Person","edge":"Knows"}"#,
            "line 3: a line has either `type`, of a node, or `edge`, of an edge",
        ),
        (r#"{"type":7,"data":{}}"#, "line 3, `type`: is not a string"),
        (
            r#"{"type":"Persn","data":{}}"#,
            "line 3, `type`: there is no node type `Persn`; did you mean `Person`?",
        ),
        (
            r#"{"edge":"knows","from":"a","to":"b"}"#,
            "line 3, `edge`: there is no edge type `knows`; did you mean `Knows`?",
        ),
        (r#"{"type":"Named","data":{}}"#, "line 3, `type`: there is no node type `Named`"),
        (r#"{"type":"Person"}"#, "line 3, `data`: is missing"),
        (r#"{"type":"Person","data":[]}"#, "line 3, `data`: is not an object"),
        (
            r#"{"type":"Person","data":{"slug":"a"},"from":"b"}"#,
            "line 3, `from`: is no part of such a line, only `type`, `data` are",
        ),
        (
            r#"{"type":"Person","data":{"slug":"a","agee":1}}"#,
            "line 3, `agee`: there is no property of Person `agee`; did you mean `age`?",
        ),
        (
            r#"{"type":"Person","data":{"slug":"a","age":1,"age":1}}"#,
            "line 3: no JSON to be taken, at byte 49: `age` is there twice",
        ),
        (r#"{"type":"Person","data":{"age":1}}"#, "line 3, `slug`: it is required"),
        (r#"{"type":"Person","data":{"slug":null}}"#, "line 3, `slug`: it is required"),
        (r#"{"type":"Person","data":{"slug":""}}"#, "line 3, `slug`: a key cannot be empty"),
        (
            r#"{"type":"Person","data":{"slug":"a","age":-1}}"#,
            "line 3, `age`: it is below 0, where its range begins",
        ),
        (
            r#"{"type":"Person","data":{"slug":"a","age":"1"}}"#,
            "line 3, `age`: \"1\" is no I32: send a whole number, without quotes",
        ),
        (
            r#"{"type":"Person","data":{"slug":"a","p4":1}}"#,
            "line 3, `p4`: 1 is no I64: send a string, so that no reader rounds it: \"1\"",
        ),
        (r#"{"edge":"Knows","from":"a"}"#, "line 3, `to`: is missing"),
        (
            r#"{"edge":"Knows","from":"a","to":"b","since":1}"#,
            "line 3, `since`: is no part of such a line, only `edge`, `from`, `to`, `data` are",
        ),
        (r#"{"edge":"Knows","from":"","to":"b"}"#, "line 3, `from`: a key cannot be empty"),
        (r#"{"edge":"Knows","from":7,"to":"b"}"#, "line 3, `from`: is no key of Person (String)"),
        (r#"{"edge":"SleptIn","from":"a","to":"07"}"#, "line 3, `to`: is no key of Room (I32)"),
        (
            r#"{"edge":"SleptIn","from":"a","to":{"type":"Day","key":"2026-01-31"}}"#,
            "line 3, `to`: SleptIn has Room here, not Day",
        ),
        (
            r#"{"edge":"Plays","from":"a","to":{"type":"Day","key":"2026-01-31"}}"#,
            "line 3, `to`: Plays has Named here, not Day",
        ),
        (
            r#"{"edge":"Plays","from":"a","to":"b"}"#,
            &format!("line 3, `to`: Named is an interface; {interface_end}"),
        ),
        (
            r#"{"edge":"Plays","from":"a","to":{"type":"Room","key":"1","x":1}}"#,
            &format!("line 3, `to`: {interface_end}"),
        ),
        (
            r#"{"edge":"Plays","from":"a","to":{"type":"Romo","key":"1"}}"#,
            "line 3, `to`: there is no node type `Romo`; did you mean `Room`?",
        ),
        (
            r#"{"edge":"Plays","from":"a","to":{"type":"Room","key":"1"},"data":{"role":"\n"}}"#,
            "line 3, `role`: a key has no control characters",
        ),
    ] {
        let error = parse(&schema(), 3, line).unwrap_err();
        assert_eq!(error.to_string(), said, "{line}");
    }
    let long = format!(r#"{{"type":"Person","data":{{"slug":"a","{}":1}}}}"#, "x".repeat(100_000));
    assert!(parse(&schema(), 1, &long).unwrap_err().to_string().len() < 300);
}

fn any_of(kinds: &[Kind]) -> Vec<BoxedStrategy<Value>> {
    let nullable = |kind| prop_oneof![1 => Just(Value::Null), 3 => of_kind(kind)].boxed();
    kinds.iter().map(nullable).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        key in "[a-zé\" \\\\{}]{1,8}", to in -9_i32..9, values in any_of(&kinds()),
        role in "[a-z\u{1F600}]{1,3}",
    ) {
        let schema = schema();
        let mut person = vec![Value::Text(key.clone()), Value::Int(3)];
        person.extend(values.clone());
        let line = export_node(&schema.nodes[0], &person);
        let node = LoadNode { node: NodeNo(0), key: key.clone(), values: person };
        prop_assert_eq!(parse(&schema, 1, &line), Ok(LoadLine::Node(node)), "{}", line);

        let end = |slot: &str, key: &str| (slot.to_owned(), key.to_owned());
        let from = || end("Person", &key);
        let number = to.to_string();
        let ada = || (NodeNo(0), key.clone());
        let room = || (NodeNo(1), number.clone());
        for (edge, slot, to, body) in [
            (0, end("Person", "bob"), (NodeNo(0), "bob".to_owned()), values),
            (1, end("Chamber", &number), room(), vec![Value::Text(role), Value::Null]),
            (1, end("Person", &key), ada(), vec![Value::Null, Value::Null]),
            (2, end("Chamber", &number), room(), vec![]),
        ] {
            let body = EdgeBody { from: from(), to: slot, values: body };
            let line = export_edge(&schema, &schema.edges[edge], &body).unwrap();
            let read = LoadEdge { edge: EdgeNo(edge), from: ada(), to, values: body.values };
            prop_assert_eq!(parse(&schema, 1, &line), Ok(LoadLine::Edge(read)), "{}", line);
        }
    }
}
