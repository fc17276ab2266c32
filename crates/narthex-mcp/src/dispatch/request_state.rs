//! The `requestState` a client carries from one call to its repetition.
//!
//! It is a hint and nothing more: whether the call may run, and what it goes on with, is the gate's
//! own look-up, each time. But what comes back must be what was handed out: to this agent, for this call, in time.
//! Anything else is refused, all of it with one and the same error.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use narthex_core::{Digest, Timestamp};
use narthex_gate::{Admitted, Gate};
use serde_json::{Value, json};

/// A call of one agent, as a state is bound to it.
#[derive(Debug)]
pub(super) struct CallMark {
    agent: [u8; 16],
    call: Digest,
}

/// A state that was not handed out for this call, or too long ago.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotOurs;

impl CallMark {
    pub(super) fn new(admitted: &Admitted, surface: &str, tool: &str, arguments: &Value) -> Self {
        let call = json!({ "surface": surface, "tool": tool, "arguments": arguments });
        let agent = *admitted.principal().agent.id.as_bytes();
        Self { agent, call: Digest::of_json(&call) }
    }

    /// The state for a call that waits for this under that id, good until then.
    pub(super) fn seal(
        &self,
        gate: &Gate,
        purpose: &str,
        id: [u8; 16],
        until: Timestamp,
    ) -> String {
        let mut state = Vec::with_capacity(STATE_BYTES);
        state.extend_from_slice(&until.as_millis().to_be_bytes());
        state.extend_from_slice(&id);
        let seal = gate.seal(purpose, &self.fields(&state));
        state.extend_from_slice(seal.as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode(state)
    }

    /// The id in a state that came back, if it is one of this call's.
    pub(super) fn check(
        &self,
        gate: &Gate,
        purpose: &str,
        state: &Value,
    ) -> Result<[u8; 16], NotOurs> {
        let text = state.as_str().filter(|text| text.len() <= MAX_STATE_CHARS).ok_or(NotOurs)?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| NotOurs)?;
        let (said, seal) = bytes.split_at_checked(SAID_BYTES).ok_or(NotOurs)?;
        if !gate.is_sealed(purpose, &self.fields(said), seal) {
            return Err(NotOurs);
        }
        let (until, id) = said.split_first_chunk::<8>().ok_or(NotOurs)?;
        let id = id.try_into().map_err(|_| NotOurs)?;
        let now = gate.clock().now().as_millis();
        if now <= i64::from_be_bytes(*until) { Ok(id) } else { Err(NotOurs) }
    }

    fn fields<'a>(&'a self, said: &'a [u8]) -> [&'a [u8]; 3] {
        [&self.agent, self.call.as_bytes(), said]
    }
}

/// A state of a call that waits for the owner.
pub(super) const APPROVAL: &str = "mcp request state v1";
/// A state of a call that waits for its client.
pub(super) const INPUT: &str = "mcp input state v1";
/// When it ends, and which request it is about.
const SAID_BYTES: usize = 8 + 16;
const STATE_BYTES: usize = SAID_BYTES + 32;
const MAX_STATE_CHARS: usize = 2 * STATE_BYTES;
