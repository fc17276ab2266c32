//! What an upstream server offers beside tools: resources, prompts, completions. Each is listed as it
//! was written, and asked for through a passage of the surface, which is decided on and recorded like
//! a call.

use std::sync::Arc;

use narthex_core::Reason;
use narthex_gate::{Admitted, CallError, Foreign, ForeignItem, Invocation, RawResult, ToolSpec};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use super::wire::server_info_meta;
use super::{Asked, Dispatch};
use crate::era::Era;
use crate::fault::Fault;
use crate::message::Id;
use crate::raw::RawObject;
use crate::reply::Reply;

/// A list whose items are written already.
#[derive(Serialize)]
struct RawList<'a> {
    #[serde(flatten)]
    items: Items<'a>,
    #[serde(rename = "_meta")]
    meta: rmcp::model::MetaObject,
    #[serde(flatten)]
    modern: Option<Modern>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Items<'a> {
    Resources(Vec<&'a RawValue>),
    ResourceTemplates(Vec<&'a RawValue>),
    Prompts(Vec<&'a RawValue>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Modern {
    result_type: &'static str,
    ttl_ms: u64,
    cache_scope: &'static str,
}

impl Dispatch {
    pub(super) fn foreign(&self) -> Option<&Foreign> {
        self.surface.surface().foreign()
    }

    /// Whether a passage is there: the methods it stands for are unknown ones without.
    pub(super) fn has_passage(&self, name: &str) -> bool {
        self.surface.surface().passages().iter().any(|spec| spec.name == name)
    }

    /// The same where a method is known to some revisions only: what a client arranges once for all its
    /// calls the newer one says with each of them.
    pub(super) fn has_passage_in(&self, era: Era, name: &str) -> bool {
        if era == Era::Modern && ARRANGED.contains(&name) {
            return false;
        }
        let watching = ARRANGED.contains(&name) && name != Foreign::SET_LEVEL;
        // Without a session nobody could be told of a change.
        self.has_passage(name) && (!watching || self.gate.keeps_sessions())
    }

    /// Resources of somebody else's that change, as far as this agent watches them.
    pub(crate) fn changes(&self, admitted: &Admitted) -> Option<broadcast::Receiver<Arc<str>>> {
        self.surface.surface().changes(admitted.principal().agent.id)
    }

    /// Which lists of somebody else's are others there than here.
    pub(crate) fn lists_that_differ(&self, there: &Self) -> Vec<&'static str> {
        let lists = |of: &Self| {
            let texts = |items: &[ForeignItem]| -> Vec<String> {
                items.iter().map(|item| item.listed.get().to_owned()).collect()
            };
            let foreign = of.foreign().cloned().unwrap_or_default();
            let mut resources = texts(&foreign.resources.unwrap_or_default());
            resources.extend(texts(&foreign.templates));
            let prompts = texts(&foreign.prompts.unwrap_or_default());
            [("tools", texts(&foreign.tools)), ("resources", resources), ("prompts", prompts)]
        };
        let both = lists(self).into_iter().zip(lists(there));
        both.filter(|(here, there)| here != there).map(|((list, _), _)| list).collect()
    }

    /// One of the lists; empty for whom the passage that leads on from it would be closed.
    pub(super) async fn list_foreign(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
        passage: &str,
    ) -> Result<Reply, Fault> {
        self.no_cursor(admitted, asked).await?;
        let method = asked.method();
        let open = self.gate.list_passage(admitted, &self.surface, &method, passage).await;
        let open = open.map_err(Fault::of_call)?;
        let foreign = self.foreign().filter(|_| open);
        let items = match asked.message.method.as_str() {
            "prompts/list" => Items::Prompts(listed(foreign.and_then(|of| of.prompts.as_deref()))),
            "resources/templates/list" => {
                Items::ResourceTemplates(listed(foreign.map(|of| of.templates.as_slice())))
            }
            _ => Items::Resources(listed(foreign.and_then(|of| of.resources.as_deref()))),
        };
        let modern = (asked.era == Era::Modern).then(|| Modern {
            result_type: "complete",
            ttl_ms: self.ttl_ms(),
            cache_scope: "private",
        });
        Ok(Reply::result(id, &RawList { items, meta: server_info_meta(), modern }))
    }

    /// Reads a resource, gets a prompt, completes an argument.
    pub(super) async fn pass(
        &self,
        admitted: &Admitted,
        id: &Id,
        mut asked: Asked,
    ) -> Result<Reply, Fault> {
        let method = asked.message.method.clone();
        let mut arguments = Map::new();
        for name in ["uri", "name", "arguments", "ref", "argument", "context", "level"] {
            if let Some(value) = asked.message.params.swap_remove(name) {
                arguments.insert(name.to_owned(), value);
            }
        }
        let uri = arguments.get("uri").and_then(Value::as_str).map(str::to_owned);
        let name = arguments.get("name").and_then(Value::as_str).map(str::to_owned);
        let arguments = Value::Object(arguments);
        let input = self.input_mark(admitted, &asked, &method, &arguments);
        let repeats = self.repeats_passage(admitted, &asked, input.as_ref()).await?;
        let invocation = Invocation {
            tool: method.clone(),
            arguments,
            consent: asked.consent(),
            request: asked.message.request_id(),
            session: asked.session(),
            passage: true,
            progress: asked.says.clone(),
            logs: asked.logs.clone(),
            client: asked.client(),
            repeats,
        };
        let era = asked.era;
        match self.gate.call(admitted, &self.surface, invocation).await {
            // There is nothing to say to it, and clients want to see exactly that.
            Ok(_) if ARRANGED.contains(&method.as_str()) => {
                Ok(Reply::result(id, &rmcp::model::EmptyObject {}))
            }
            Ok(output) => match output.raw {
                Some(raw) => Ok(Reply::result(id, &adapted(&raw, era, method == Foreign::READ)?)),
                None => Err(Fault::internal()),
            },
            Err(CallError::Input(needed)) => {
                Ok(Reply::result(id, &self.input_required(&needed, input.as_ref())))
            }
            // What an agent may not have and what does not exist are the same to the byte.
            Err(
                CallError::UnknownTool { .. }
                | CallError::Refused {
                    reason: Reason::PolicyDenied | Reason::PolicyError | Reason::NotFound,
                    ..
                },
            ) => Err(match (uri, name) {
                (Some(uri), _) => Fault::unknown_resource(&uri, era),
                (None, Some(name)) => Fault::invalid_params(format!("unknown prompt: {name}")),
                (None, None) => Fault::invalid_params("there is nothing of this name"),
            }),
            Err(error) => {
                if error == CallError::Overloaded {
                    self.gate.refused_unread(admitted, Reason::LimitReached).await;
                }
                Err(Fault::of_call(error))
            }
        }
    }
}

/// What a client arranges once for all its calls.
const ARRANGED: [&str; 3] = [Foreign::SET_LEVEL, Foreign::SUBSCRIBE, Foreign::UNSUBSCRIBE];

fn listed(items: Option<&[ForeignItem]>) -> Vec<&RawValue> {
    items.unwrap_or_default().iter().map(|item| item.listed.as_ref()).collect()
}

/// A result of another server as a client of this era takes it. All else stays as it was written.
pub(super) fn adapted(raw: &RawResult, era: Era, cached: bool) -> Result<RawObject, Fault> {
    let mut result = RawObject::read(&raw.json).ok_or_else(Fault::internal)?;
    match era {
        Era::Modern => {
            result.put_if_absent("resultType", &"complete");
            if cached {
                result.put_if_absent("ttlMs", &0);
                // What an agent is shown is shown to it alone.
                result.put("cacheScope", &"private");
            }
        }
        Era::Legacy => {
            for name in ["resultType", "ttlMs", "cacheScope"] {
                result.remove(name);
            }
        }
    }
    let mut meta = result.get("_meta").and_then(RawObject::read).unwrap_or_default();
    for (name, value) in &raw.notes {
        meta.put(name, value);
    }
    for (name, value) in server_info_meta().0 {
        meta.put(&name, &value);
    }
    result.put("_meta", &meta);
    Ok(result)
}

/// What is listed of a tool that somebody else wrote.
pub(super) fn listed_tool(foreign: &Foreign, spec: &ToolSpec) -> Option<Box<RawValue>> {
    let item = foreign.tools.iter().find(|item| item.name == spec.name)?;
    Some(item.listed.as_ref().to_owned())
}
