//! `tools/list` and `tools/call`.

use narthex_core::Reason;
use narthex_gate::{Admitted, CallError, Invocation};
use rmcp::model::{CacheScope, ListToolsResult};
use serde_json::{Map, Value};

use super::wire::{answer, refusal, server_info_meta, tool};
use super::{Asked, Dispatch};
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
        if asked.message.params.contains_key("cursor") {
            let fault = Fault::invalid_params("unknown cursor: the list has one page");
            return self.refuse(admitted, &method, Reason::InvalidArguments, fault).await;
        }
        let specs =
            self.gate.list(admitted, &self.surface, &method).await.map_err(Fault::of_call)?;
        let mut list =
            ListToolsResult::with_all_items(specs.iter().map(|spec| tool(spec)).collect());
        list.meta = Some(server_info_meta());
        match asked.era {
            Era::Modern => {
                list = list.with_ttl_ms(self.ttl_ms()).with_cache_scope(CacheScope::Private);
            }
            Era::Legacy => list.result_type = None,
        }
        Ok(Reply::result(id, &list))
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
        let invocation = Invocation {
            tool: name,
            arguments: asked
                .message
                .params
                .swap_remove("arguments")
                .unwrap_or_else(|| Value::Object(Map::new())),
            consent: asked.consent(),
            request: asked.message.request_id(),
            session: None,
        };
        let result = match self.gate.call(admitted, &self.surface, invocation).await {
            Ok(output) => answer(output, asked.era),
            Err(CallError::Refused { reason, message }) => refusal(reason, &message, asked.era),
            Err(CallError::Waiting(waiting)) => {
                refusal(waiting.because, &waiting.message(), asked.era)
            }
            Err(error) => return Err(Fault::of_call(error)),
        };
        Ok(Reply::result(id, &result))
    }
}
