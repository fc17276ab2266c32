//! Rows as lines, in the form that loads read.

use serde_json::{Map, Value as Json, json};

use crate::rows::EdgeBody;
use crate::schema::{EdgeType, NodeType, Property, Schema};
use crate::value::Value;

/// The line of a node, without the end of the line.
pub fn export_node(node: &NodeType, values: &[Value]) -> String {
    json!({ "type": node.name, "data": data_json(&node.properties, values) }).to_string()
}

/// The line of an edge. None if the schema no longer has the type of one of its ends.
pub fn export_edge(schema: &Schema, edge: &EdgeType, body: &EdgeBody) -> Option<String> {
    let mut line = Map::new();
    line.insert("edge".to_owned(), json!(edge.name));
    line.insert("from".to_owned(), end(schema, &edge.from, &body.from)?);
    line.insert("to".to_owned(), end(schema, &edge.to, &body.to)?);
    let data = data_json(&edge.properties, &body.values);
    if !data.is_empty() {
        line.insert("data".to_owned(), Json::Object(data));
    }
    Some(Json::Object(line).to_string())
}

/// A row's values by the names of its properties, nulls left out.
pub fn data_json(properties: &[Property], values: &[Value]) -> Map<String, Json> {
    let pairs = properties.iter().zip(values).filter(|(_, value)| !value.is_null());
    pairs.map(|(property, value)| (property.name.clone(), value.to_json(&property.kind))).collect()
}

/// The key, with the type where the edge can end at several.
fn end(schema: &Schema, ends_at: &str, (slot, key): &(String, String)) -> Option<Json> {
    let node = schema.nodes.iter().find(|node| node.slot == *slot)?;
    Some(if node.name == ends_at { json!(key) } else { json!({ "type": node.name, "key": key }) })
}

#[cfg(test)]
mod tests {
    use super::{export_edge, export_node};
    use crate::rows::EdgeBody;
    use crate::schema::{Kind, Schema};
    use crate::value::Value;
    use crate::value::samples::{edge_type, node_type, property};

    #[test]
    fn lines_look_like_what_is_loaded() {
        let properties = vec![property("slug", Kind::String), property("n", Kind::I64)];
        let person = node_type("Person", properties);
        let ada = Value::Text("ada".to_owned());
        assert_eq!(
            export_node(&person, &[ada.clone(), Value::Int(7)]),
            r#"{"type":"Person","data":{"slug":"ada","n":"7"}}"#
        );
        assert_eq!(
            export_node(&person, &[ada, Value::Null]),
            r#"{"type":"Person","data":{"slug":"ada"}}"#
        );
        let schema = Schema { nodes: vec![person], ..Schema::default() };
        let end = |slot: &str| (slot.to_owned(), "ada".to_owned());
        let edge = edge_type("Knows", "Person", "Named", vec![]);
        let body = EdgeBody { from: end("Person"), to: end("Person"), values: vec![] };
        assert_eq!(
            export_edge(&schema, &edge, &body).as_deref(),
            Some(r#"{"edge":"Knows","from":"ada","to":{"type":"Person","key":"ada"}}"#)
        );
        let gone = EdgeBody { to: end("Company"), ..body };
        assert_eq!(export_edge(&schema, &edge, &gone), None);
    }
}
