//! Queries: those that look, and those that change something.

use narthex_graph::GraphError;
use narthex_graph::engine::{Ask, Mutation};
use narthex_graph::exec::{Cursor, Page};
use narthex_graph::query::{Param, read_one};
use narthex_graph::schema::Kind;
use narthex_store::{At, GraphInfo};
use serde_json::{Map, Value as Json};

use super::super::desk::{invalid, not_found};
use super::super::graph_request::{GraphChange, GraphQuery};
use super::super::{Desk, GraphReply, QueryAnswer};
use super::owner;
use super::trouble::Stop;

impl Desk {
    pub(super) async fn graph_query(
        &self,
        graph: &str,
        query: &GraphQuery,
        at: Option<&str>,
        cursor: Option<String>,
        limit: u32,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let at = match &cursor {
            Some(token) => At::Commit(Cursor::parse(token).map_err(GraphError::from)?.commit()),
            None => self.place(&graph, at).await?,
        };
        let (source, name) = self.text_of(&graph, query).await?;
        let params = self.params_of(&graph, &at, &source, name.as_deref(), query).await?;
        let ask = Ask {
            source: &source,
            name: name.as_deref(),
            params: &params,
            at,
            page: Page { size: limit.clamp(1, MAX_ROWS), cursor },
            limits: &self.owner_limits(),
        };
        let (answer, commit) = self.graphs.engine().query(&graph, &ask).await?;
        let kinds: Vec<_> = answer.columns.iter().map(|column| column.kind.as_ref()).collect();
        let row = |cells: &Vec<narthex_graph::exec::Cell>| {
            cells.iter().zip(&kinds).map(|(cell, kind)| cell.to_json(*kind)).collect()
        };
        Ok(GraphReply::Answer(Box::new(QueryAnswer {
            commit: commit.id,
            rows: answer.rows.iter().map(row).collect(),
            columns: answer.columns.iter().map(|column| column.name.clone()).collect(),
            next: answer.next,
        })))
    }

    pub(super) async fn graph_mutate(
        &self,
        change: &GraphChange,
        query: &GraphQuery,
    ) -> Result<GraphReply, Stop> {
        let target = self.target(change).await?;
        let (source, name) = self.text_of(&target.graph, query).await?;
        let at = At::Branch(target.branch.clone());
        let params = self.params_of(&target.graph, &at, &source, name.as_deref(), query).await?;
        let limits = self.owner_limits();
        let ask = Mutation {
            source: &source,
            name: name.as_deref(),
            params: &params,
            branch: &target.branch,
            expected: target.expected,
            message: &change.message,
            limits: &limits,
        };
        let (engine, maker) = (self.graphs.engine(), owner());
        let mutate = || engine.mutate(&target.graph, &ask, &maker);
        let done = self.make("graph.mutate", &target.graph, mutate).await?;
        Ok(target.changed(done))
    }

    /// The text of a query and its name in it. A stored one is the owner's to call, exposed or not.
    async fn text_of(
        &self,
        graph: &GraphInfo,
        query: &GraphQuery,
    ) -> Result<(String, Option<String>), Stop> {
        if let Some(text) = &query.text {
            return Ok((text.clone(), query.name.clone()));
        }
        let name = query.name.as_deref().ok_or_else(|| {
            invalid("there is no query: give its text, or the name of a stored one")
        })?;
        let catalogue = self.graphs.catalogue(graph).await?;
        let list =
            || not_found("stored query", name, &format!("narthex graph stored {}", graph.slug));
        let stored = catalogue.get(name).ok_or_else(list)?;
        Ok((stored.source.clone(), Some(stored.name.clone())))
    }

    /// What the query is told, with what people typed read as what each parameter is.
    async fn params_of(
        &self,
        graph: &GraphInfo,
        at: &At,
        source: &str,
        name: Option<&str>,
        query: &GraphQuery,
    ) -> Result<Map<String, Json>, Stop> {
        let mut params = query.params.clone();
        if query.words.is_empty() {
            return Ok(params);
        }
        let schema = self.graphs.engine().schema_at(graph, at).await?;
        let plan = read_one(source, name, &schema).map_err(GraphError::Text)?;
        for (name, word) in &query.words {
            let param = plan.params.iter().find(|param| param.name == *name);
            let value =
                param.map_or_else(|| Json::String(word.clone()), |param| typed(param, word));
            if params.insert(name.clone(), value).is_some() {
                return Err(invalid(format!("the parameter `{name}` is given twice")).into());
            }
        }
        Ok(params)
    }
}

/// JSON where that is what the parameter takes, or means to be, else text.
fn typed(param: &Param, word: &str) -> Json {
    match serde_json::from_str::<Json>(word) {
        Ok(Json::Null) if param.nullable => Json::Null,
        Ok(json) if param.kind.accept(&json).is_ok() => json,
        // What is wrong with it is said of the list, or the number.
        Ok(json @ Json::Array(_)) if matches!(param.kind, Kind::List(_) | Kind::Vector(_)) => json,
        Ok(json @ Json::Number(_))
            if matches!(param.kind, Kind::I32 | Kind::U32 | Kind::F32 | Kind::F64) =>
        {
            json
        }
        _ => Json::String(word.to_owned()),
    }
}

/// Rows of one answer.
const MAX_ROWS: u32 = 1_000;

#[cfg(test)]
mod tests {
    use narthex_graph::query::Param;
    use narthex_graph::schema::Kind;
    use serde_json::{Value as Json, json};

    use super::typed;

    #[test]
    fn what_is_typed_is_read_as_what_the_parameter_is() {
        let list = || Kind::List(Box::new(Kind::String));
        for (kind, nullable, word, expected) in [
            (Kind::String, false, "ada", json!("ada")),
            (Kind::String, false, "7", json!("7")),
            (Kind::String, false, "\"7\"", json!("7")),
            (Kind::String, false, "null", json!("null")),
            (Kind::String, true, "null", Json::Null),
            (Kind::I32, false, "7", json!(7)),
            (Kind::I64, false, "9007199254740993", json!("9007199254740993")),
            (Kind::Bool, false, "true", json!(true)),
            (Kind::F64, false, "0.5", json!(0.5)),
            (Kind::Date, false, "2026-01-31", json!("2026-01-31")),
            (list(), false, "[\"a\"]", json!(["a"])),
            (Kind::I32, false, "seven", json!("seven")),
            (Kind::I32, false, "0.5", json!(0.5)),
            (Kind::I64, false, "0.5", json!("0.5")),
            (Kind::Vector(3), false, "[1,2]", json!([1, 2])),
            (Kind::String, false, "[1,2]", json!("[1,2]")),
        ] {
            let param = Param { name: "x".to_owned(), kind, nullable, default: None };
            assert_eq!(typed(&param, word), expected, "{param:?} {word}");
        }
    }
}
