//! Requests under way on a line-based connection, so that the client can take one back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::task::AbortHandle;

use crate::message::{Id, Message};

/// What is under way, by the client's id.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<Id, AbortHandle>>>);

impl InFlight {
    pub(crate) fn begin(&self, id: Id, task: AbortHandle) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What finished before it could be noted down is not noted down.
        tasks.retain(|_, task| !task.is_finished());
        tasks.insert(id, task);
    }

    /// Ends the request a `notifications/cancelled` names, if it is still under way; whether
    /// there was one.
    pub(crate) fn cancel(&self, notification: &Message) -> bool {
        let id = match notification.params.get("requestId") {
            Some(Value::String(text)) => Id::Text(text.clone()),
            Some(Value::Number(number)) => Id::Number(number.clone()),
            _ => return false,
        };
        let task = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        task.is_some_and(|task| {
            task.abort();
            true
        })
    }
}
