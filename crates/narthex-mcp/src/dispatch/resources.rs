//! `resources/list`, `resources/templates/list` and `resources/read`.
//!
//! A resource is the answer of a tool: it is listed where its tool is, and reading it is a call of
//! that tool, decided on and recorded like any other.

use narthex_core::Reason;
use narthex_gate::{Admitted, CallError, Invocation, ResourceSpec, ToolOutput};
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents,
};
use serde_json::Value;

use super::wire::server_info_meta;
use super::{Asked, Dispatch};
use crate::era::Era;
use crate::fault::Fault;
use crate::message::Id;
use crate::reply::Reply;

impl Dispatch {
    /// Whether there are any: without, the methods are unknown ones.
    pub(super) fn has_resources(&self) -> bool {
        !self.surface.surface().resources().is_empty()
    }

    pub(super) async fn list_resources(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
    ) -> Result<Reply, Fault> {
        let method = asked.method();
        self.no_cursor(admitted, asked).await?;
        let shown =
            self.gate.list(admitted, &self.surface, &method).await.map_err(Fault::of_call)?;
        let resources = self.surface.surface().resources().iter();
        let resources = resources
            .filter(|resource| shown.iter().any(|tool| tool.name == resource.tool))
            .map(listed)
            .collect();
        let mut list = ListResourcesResult::with_all_items(resources);
        list.meta = Some(server_info_meta());
        match asked.era {
            Era::Modern => {
                list = list.with_ttl_ms(self.ttl_ms()).with_cache_scope(CacheScope::Private);
            }
            Era::Legacy => list.result_type = None,
        }
        Ok(Reply::result(id, &list))
    }

    /// There are none: every address is listed.
    pub(super) async fn list_templates(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
    ) -> Result<Reply, Fault> {
        self.no_cursor(admitted, asked).await?;
        self.note(admitted, &asked.method()).await?;
        let mut list = ListResourceTemplatesResult::with_all_items(Vec::new());
        list.meta = Some(server_info_meta());
        match asked.era {
            Era::Modern => {
                list = list.with_ttl_ms(self.ttl_ms()).with_cache_scope(CacheScope::Private);
            }
            Era::Legacy => list.result_type = None,
        }
        Ok(Reply::result(id, &list))
    }

    pub(super) async fn read_resource(
        &self,
        admitted: &Admitted,
        id: &Id,
        mut asked: Asked,
    ) -> Result<Reply, Fault> {
        let method = asked.method();
        let Some(Value::String(uri)) = asked.message.params.swap_remove("uri") else {
            let fault = Fault::invalid_params("resources/read needs params.uri, a string");
            return self.refuse(admitted, &method, Reason::InvalidArguments, fault).await;
        };
        let found = self.surface.surface().resources().iter().find(|one| one.uri == uri);
        let Some(resource) = found else {
            let fault = Fault::unknown_resource(&uri, asked.era);
            return self.refuse(admitted, &method, Reason::NotFound, fault).await;
        };
        let invocation = Invocation {
            tool: resource.tool.to_owned(),
            arguments: resource.arguments.clone(),
            consent: asked.consent(),
            request: asked.message.request_id(),
            session: asked.session(),
            passage: false,
            progress: None,
            logs: None,
            client: None,
            repeats: None,
        };
        match self.gate.call(admitted, &self.surface, invocation).await {
            Ok(output) => Ok(Reply::result(id, &contents(resource, output, asked.era))),
            // What an agent may not read and what does not exist are the same to the byte.
            Err(
                CallError::UnknownTool { .. }
                | CallError::Refused { reason: Reason::PolicyDenied | Reason::PolicyError, .. },
            ) => Err(Fault::unknown_resource(&uri, asked.era)),
            Err(error) => {
                if error == CallError::Overloaded {
                    self.gate.refused_unread(admitted, Reason::LimitReached).await;
                }
                Err(Fault::of_call(error))
            }
        }
    }

    /// Lists have one page.
    pub(super) async fn no_cursor(&self, admitted: &Admitted, asked: &Asked) -> Result<(), Fault> {
        if !asked.message.params.contains_key("cursor") {
            return Ok(());
        }
        let fault = Fault::invalid_params("unknown cursor: the list has one page");
        self.refuse(admitted, &asked.method(), Reason::InvalidArguments, fault).await
    }
}

fn listed(spec: &ResourceSpec) -> Resource {
    Resource::new(&spec.uri, &spec.name)
        .with_title(&spec.title)
        .with_description(&spec.description)
        .with_mime_type(spec.mime)
}

fn contents(resource: &ResourceSpec, mut output: ToolOutput, era: Era) -> ReadResourceResult {
    let text = match resource.text.map(|at| output.structured.pointer(at)) {
        Some(Some(Value::String(text))) => text.clone(),
        Some(Some(other)) => other.to_string(),
        Some(None) | None => output.take_text(),
    };
    let contents = ResourceContents::text(text, &resource.uri).with_mime_type(resource.mime);
    let mut result = ReadResourceResult::new(vec![contents]);
    result.meta = Some(server_info_meta());
    match era {
        // What a graph holds changes with every commit, so nobody keeps it.
        Era::Modern => result.with_ttl_ms(0).with_cache_scope(CacheScope::Private),
        Era::Legacy => {
            result.result_type = None;
            result
        }
    }
}
