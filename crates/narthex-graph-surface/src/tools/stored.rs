//! Stored queries as tools: one each, or all behind two.

use narthex_core::{BranchAsk, PolicyAction, Question, Tier};
use narthex_gate::{
    Annotations, CallContext, Staged, ToolError, ToolOutput, ToolSpec, write_answer,
};
use narthex_graph::stored::{Catalogue, StoredQuery};
use serde_json::{Value, json};

use super::change::Change;
use super::input::Stored;
use super::look::{Asked, page};
use super::{input, output};
use crate::place::{LOOKING, Place, at, branch_named, changing, invalid};

/// A stored query as a tool of its own.
pub(crate) fn spec(query: &StoredQuery) -> ToolSpec {
    let weight = if query.writes() { changing(Tier::T1) } else { LOOKING };
    let output_schema = match query.row_schema() {
        Some(row) => output::rows_schema(&row),
        None => narthex_gate::output_schema::<output::Made>(),
    };
    ToolSpec {
        name: query.tool.clone(),
        title: query.name.clone(),
        description: query.description(),
        input_schema: envelope(query),
        output_schema: Some(output_schema),
        annotations: Annotations {
            read_only: !query.writes(),
            destructive: query.writes(),
            idempotent: !query.writes(),
            open_world: false,
        },
        tier: weight.tier,
        effects: weight.effects,
        ignored_arguments: &[],
        cost: None,
        target: query.writes().then(|| "/branch".to_owned()),
    }
}

/// The query's own parameters under `params`, where and how beside them: no name of one can be
/// taken for the other. What changes something has no `snapshot`, so it cannot be asked of one.
fn envelope(query: &StoredQuery) -> Value {
    let text = |about: &str, most: u32| json!({ "type": "string", "maxLength": most, "description": about });
    let mut params = query.params_schema();
    let required =
        params.get("required").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    if let Some(map) = params.as_object_mut() {
        map.insert("description".to_owned(), json!("What the query is told."));
    }
    let mut properties = json!({
        "params": params,
        "branch": text("The branch; `main` if left out.", 128),
    });
    if let Some(map) = properties.as_object_mut() {
        if query.writes() {
            map.insert(
                "expected_head".to_owned(),
                text("The commit the branch must still stand at.", 128),
            );
            map.insert("message".to_owned(), text("What to say about it in the history.", 500));
        } else {
            map.insert(
                "snapshot".to_owned(),
                text("A commit's id, or a moment (RFC 3339) at which to look at the branch.", 128),
            );
            map.insert(
                "page_size".to_owned(),
                json!({ "type": "integer", "minimum": 1, "maximum": 10_000, "description": "Rows of one page." }),
            );
            map.insert(
                "cursor".to_owned(),
                text("From where: `next_cursor` of the page before.", 4096),
            );
        }
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if required && let Some(map) = schema.as_object_mut() {
        map.insert("required".to_owned(), json!(["params"]));
    }
    schema
}

impl Place<'_> {
    /// The outer gate: may this query be called at all?
    pub(crate) fn invoke(self, query: &str) -> Question {
        self.asked(
            PolicyAction::InvokeQuery,
            BranchAsk::None,
            BranchAsk::None,
            Some(query.to_owned()),
        )
    }

    /// The exposed query of this name that this caller may call. None, whatever the reason: which it
    /// is cannot be told apart.
    pub(crate) fn resolve<'c>(
        self,
        catalogue: &'c Catalogue,
        name: &str,
        context: &CallContext,
    ) -> Result<&'c StoredQuery, ToolError> {
        catalogue
            .get(name)
            .filter(|query| query.expose && context.permits(&self.invoke(&query.name)))
            .ok_or_else(|| {
                ToolError::caller(
                    narthex_core::Reason::NotFound,
                    "there is no such stored query; `stored_query_list` shows those there are",
                )
            })
    }

    /// Both gates: the query, and what it does where it does it.
    pub(crate) async fn stored_asks(
        self,
        query: &StoredQuery,
        envelope: &input::Stored,
        context: &CallContext,
    ) -> Result<Vec<Question>, ToolError> {
        let (action, branch) = if query.writes() {
            let branch = branch_named(envelope.branch.as_deref())?;
            (PolicyAction::Change, BranchAsk::This(self.shape(&branch, context).await?))
        } else {
            let at = at(envelope.branch.as_deref(), envelope.snapshot.as_deref())?;
            let at = crate::place::at_page(at, envelope.cursor.as_deref())?;
            (PolicyAction::Read, self.shape_at(&at, context).await?)
        };
        let name = Some(query.name.clone());
        let inner = self.asked(action, branch, BranchAsk::None, name);
        Ok(vec![self.invoke(&query.name), inner])
    }

    pub(crate) async fn stored_read(
        self,
        query: &StoredQuery,
        envelope: input::Stored,
    ) -> Result<ToolOutput, ToolError> {
        let at = at(envelope.branch.as_deref(), envelope.snapshot.as_deref())?;
        let page = page(envelope.page_size, envelope.cursor);
        let asked = Asked { source: &query.source, name: Some(&query.name), at, page };
        self.ask(asked, &envelope.params).await
    }

    pub(crate) async fn stored_change(
        self,
        query: &StoredQuery,
        envelope: input::Stored,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let Stored { snapshot, cursor, page_size, .. } = &envelope;
        if snapshot.is_some() || cursor.is_some() || page_size.is_some() {
            return Err(invalid(
                "this query changes something: it has no snapshot, no page_size and no cursor",
            ));
        }
        let branch = branch_named(envelope.branch.as_deref())?;
        let change = Change {
            source: &query.source,
            name: Some(&query.name),
            params: &envelope.params,
            branch: &branch,
            expected_head: envelope.expected_head.as_deref(),
            message: envelope.message.as_deref(),
        };
        self.change(change, context).await
    }

    /// Those that this caller may call.
    pub(crate) fn stored_list(
        self,
        catalogue: &Catalogue,
        input: &input::StoredList,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let wanted = input.filter.as_deref().unwrap_or_default().to_lowercase();
        let queries = catalogue
            .exposed()
            .filter(|query| {
                query.name.to_lowercase().contains(&wanted)
                    || query.description().to_lowercase().contains(&wanted)
            })
            .filter(|query| context.permits(&self.invoke(&query.name)))
            .map(|query| {
                let full = input.detail_level == input::Detail::Full;
                let described = input.detail_level != input::Detail::Names;
                output::StoredQuery {
                    name: query.name.clone(),
                    description: described.then(|| query.description()),
                    changes: query.writes(),
                    params: full.then(|| query.params_schema()),
                    row: query.row_schema().filter(|_| full),
                }
            })
            .collect();
        let answer = write_answer(&output::StoredQueries { queries })?;
        let taint = narthex_core::Taint { private: true, untrusted: false };
        Ok(ToolOutput::new(answer).about(taint, self.subject(None)))
    }
}
