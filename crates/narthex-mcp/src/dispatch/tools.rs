//! `tools/list` and `tools/call`.

use std::time::Duration;

use narthex_core::{Reason, Timestamp};
use narthex_gate::{Admitted, CallError, Invocation, ToolOutput, Waiting};
use rmcp::model::{CacheScope, ListToolsResult};
use serde_json::{Map, Value};

use super::foreign::adapted;
use super::request_state::{APPROVAL, CallMark};
use super::waiting::{STATE_PARAM, Way, input_required, turned_down, url_required};
use super::wire::{ToolList, answer, refusal, server_info_meta, waits};
use super::{Asked, Dispatch};
use crate::console::ConsoleUrl;
use crate::era::Era;
use crate::fault::Fault;
use crate::message::Id;
use crate::reply::Reply;

impl Dispatch {
    /// The whole list: no cursors, so a cursor is nobody's.
    pub(super) async fn list_tools(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
    ) -> Result<Reply, Fault> {
        let method = asked.method();
        self.no_cursor(admitted, asked).await?;
        let specs =
            self.gate.list(admitted, &self.surface, &method).await.map_err(Fault::of_call)?;
        let tools = specs.iter().filter_map(|spec| self.listed.get(&spec.name)).map(Box::as_ref);
        let mut list = ListToolsResult::with_all_items(Vec::new());
        list.meta = Some(server_info_meta());
        match asked.era {
            Era::Modern => {
                list = list.with_ttl_ms(self.ttl_ms()).with_cache_scope(CacheScope::Private);
            }
            Era::Legacy => list.result_type = None,
        }
        Ok(Reply::result(id, &ToolList::new(&list, tools.collect())))
    }

    pub(super) async fn call_tool(
        &self,
        admitted: &Admitted,
        id: &Id,
        mut asked: Asked,
    ) -> Result<Reply, Fault> {
        let Some(Value::String(name)) = asked.message.params.swap_remove("name") else {
            let fault = Fault::invalid_params("tools/call needs params.name, a string");
            let method = asked.method();
            return self.refuse(admitted, &method, Reason::InvalidArguments, fault).await;
        };
        let arguments = asked
            .message
            .params
            .swap_remove("arguments")
            .unwrap_or_else(|| Value::Object(Map::new()));
        let way = Way::of(self.console.as_ref(), asked.era, &asked.message, asked.carrier.terms());
        let input = self.input_mark(admitted, &asked, &name, &arguments);
        let repeats = self.repeats(&asked, input.as_ref());
        let mark = match &repeats {
            Some(_) => None,
            None => self.mark(admitted, &asked, &way, &name, &arguments).await?,
        };
        if turned_down(&asked.message) {
            return self.not_gone_to(admitted, id, &asked).await;
        }
        let invocation = Invocation {
            tool: name,
            arguments,
            consent: asked.consent(),
            request: asked.message.request_id(),
            session: asked.session(),
            passage: false,
            progress: asked.says.clone(),
            logs: asked.logs.clone(),
            client: asked.client().filter(|_| self.foreign().is_some()),
            repeats,
        };
        match self.gate.call(admitted, &self.surface, invocation).await {
            Ok(ToolOutput { raw: Some(raw), .. }) => {
                Ok(Reply::result(id, &adapted(&raw, asked.era, false)?))
            }
            Ok(mut output) => match (output.waiting.take(), way, mark) {
                (Some(waiting), Way::InputRequired(console), Some(mark)) => {
                    Ok(self.sent_to_console(id, &waiting, &console, &mark))
                }
                _ => Ok(Reply::result(id, &answer(output, asked.era))),
            },
            Err(CallError::Refused { reason, message }) => {
                Ok(Reply::result(id, &refusal(reason, &message, asked.era)))
            }
            Err(CallError::Waiting(waiting)) => match (way, mark) {
                (Way::InputRequired(console), Some(mark)) => {
                    Ok(self.sent_to_console(id, &waiting, &console, &mark))
                }
                (Way::UrlRequired(console), _) => Err(url_required(&waiting, &console)),
                _ => Ok(Reply::result(id, &waits(&waiting, asked.era))),
            },
            Err(CallError::Input(needed)) => {
                Ok(Reply::result(id, &self.input_required(&needed, input.as_ref())))
            }
            Err(error) => {
                if error == CallError::Overloaded {
                    self.gate.refused_unread(admitted, Reason::LimitReached).await;
                }
                Err(Fault::of_call(error))
            }
        }
    }

    /// The client's person is asked to go to the console; the client repeats the call afterwards.
    fn sent_to_console(
        &self,
        id: &Id,
        waiting: &Waiting,
        console: &ConsoleUrl,
        mark: &CallMark,
    ) -> Reply {
        // An approval given in the last moment is good for a while longer.
        let until = later(waiting.until, self.gate.config().approval_valid);
        let state = mark.seal(&self.gate, APPROVAL, *waiting.approval.as_bytes(), until);
        Reply::result(id, &input_required(waiting, console, state))
    }

    /// What a state is bound to, where one came back (then it must be this call's) or may have to
    /// be handed out.
    async fn mark(
        &self,
        admitted: &Admitted,
        asked: &Asked,
        way: &Way,
        tool: &str,
        arguments: &Value,
    ) -> Result<Option<CallMark>, Fault> {
        let state = asked.message.params.get(STATE_PARAM);
        if state.is_none() && !matches!(way, Way::InputRequired(_)) {
            return Ok(None);
        }
        let mark = CallMark::new(admitted, self.surface.surface().name(), tool, arguments);
        let good = state.is_none_or(|state| mark.check(&self.gate, APPROVAL, state).is_ok());
        if !good {
            let fault = Fault::invalid_params(
                "requestState is not one of this call's; make the call without it",
            );
            return self.refuse(admitted, &asked.method(), Reason::InvalidRequest, fault).await;
        }
        Ok(Some(mark))
    }

    /// A client whose person would not go to the console: nothing is looked up, nothing runs.
    async fn not_gone_to(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
    ) -> Result<Reply, Fault> {
        let (method, reason) = (asked.method(), Reason::ApprovalNeeded);
        let kept = self.gate.refuse_method(admitted, &self.surface, &method, reason).await;
        kept.map_err(Fault::of_call)?;
        let message =
            format!("{}; it was turned down in the client, and nothing was done", reason.message());
        Ok(Reply::result(id, &refusal(reason, &message, asked.era)))
    }
}

fn later(at: Timestamp, by: Duration) -> Timestamp {
    at.plus_millis(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}
