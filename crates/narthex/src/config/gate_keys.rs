//! The keys of the gate: approvals, budgets, taint, sessions, egress.

use narthex_core::{Budget, Cost};
use narthex_egress::{EgressConfig, EgressPolicy, LoopbackHttp, PolicyError};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Calls that wait for your go-ahead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    /// Seconds a call waits for your approval before it must be asked for again.
    #[schemars(range(min = 10, max = 604_800))]
    pub wait_seconds: u64,
    /// Seconds an approval is good for, once you gave it.
    #[schemars(range(min = 1, max = 86_400))]
    pub valid_seconds: u64,
    /// Calls of one agent that may wait for your approval at once; one more is refused.
    #[schemars(range(min = 1, max = 1_000))]
    pub waiting: u32,
    /// Wrong nonces you may type before a request is void.
    #[schemars(range(min = 1, max = 100))]
    pub wrong_nonces: u32,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { wait_seconds: 3_600, valid_seconds: 600, waiting: 16, wrong_nonces: 5 }
    }
}

/// What each agent may use up in a rolling window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetKeys {
    /// Seconds of the window.
    #[schemars(range(min = 1, max = Budget::LONGEST_WINDOW))]
    pub window_seconds: u32,
    /// Calls of tier T0 (they look) in a window. Not set: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 0, max = Budget::MOST_CALLS))]
    pub t0: Option<u64>,
    /// Calls of tier T1 (small and reversible, such as a proposal) in a window.
    #[schemars(range(min = 0, max = Budget::MOST_CALLS))]
    pub t1: u64,
    /// Calls of tier T2 (they change shared state) in a window.
    #[schemars(range(min = 0, max = Budget::MOST_CALLS))]
    pub t2: u64,
    /// Calls of tier T3 (they cannot be undone, or leave the house) in a window.
    #[schemars(range(min = 0, max = Budget::MOST_CALLS))]
    pub t3: u64,
    /// Bytes returned in a window. An answer is sent structured and as text, and both count.
    #[schemars(range(min = 1, max = Budget::MOST_BYTES))]
    pub bytes: u64,
    /// Seconds that calls may take, all together, in a window. Not set: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 1, max = Budget::MOST_SECONDS))]
    pub time_seconds: Option<u64>,
    /// What calls may cost, all together, in a window, in the figure that upstream servers say; a
    /// number from 0 to 1000000000. Not set: no limit.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_cost",
        deserialize_with = "read_cost"
    )]
    #[schemars(with = "f64")]
    pub cost: Option<Cost>,
}

impl Default for BudgetKeys {
    fn default() -> Self {
        Self {
            window_seconds: 3_600,
            t0: None,
            t1: 600,
            t2: 120,
            t3: 12,
            bytes: 1024 * 1024 * 1024,
            time_seconds: None,
            cost: None,
        }
    }
}

impl BudgetKeys {
    /// As the gate wants it.
    pub(super) fn budget(&self) -> Budget {
        Budget {
            window_seconds: self.window_seconds,
            calls: [self.t0, Some(self.t1), Some(self.t2), Some(self.t3)],
            bytes: Some(self.bytes),
            millis: self.time_seconds.map(|seconds| seconds.saturating_mul(1_000)),
            cost: self.cost,
        }
    }
}

/// What agents have taken in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaintKeys {
    /// Seconds after which what an agent has taken in counts no more. Not set: it counts until you
    /// clear it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 60, max = 31_536_000))]
    pub window_seconds: Option<u64>,
}

/// Sessions of clients that speak an older protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// Whether they are kept. Without them every request stands alone, which newer clients expect
    /// and older ones accept.
    pub enabled: bool,
    /// Seconds without a message after which a session ends.
    #[schemars(range(min = 10, max = 604_800))]
    pub idle_seconds: u64,
    /// Seconds after which a session ends in any case.
    #[schemars(range(min = 10, max = 2_592_000))]
    pub absolute_seconds: u64,
    /// Sessions one agent may have at once; one more is refused.
    #[schemars(range(min = 1, max = 1_000))]
    pub per_agent: usize,
}

impl Default for Sessions {
    fn default() -> Self {
        Self { enabled: false, idle_seconds: 1_800, absolute_seconds: 86_400, per_agent: 16 }
    }
}

/// What Narthex itself may fetch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Egress {
    /// Hosts inside your network that may be reached, exactly as a URL names them: `host` (port
    /// 443) or `host:port`. Everything public may be; nothing else, unless it stands here.
    pub allow: Vec<String>,
    /// Whether this machine itself may be reached, also without TLS.
    pub allow_loopback: bool,
}

impl Egress {
    /// What may be reached, if what stands here makes sense.
    pub fn policy(&self) -> Result<EgressPolicy, PolicyError> {
        let loopback_http =
            if self.allow_loopback { LoopbackHttp::Allowed } else { LoopbackHttp::Refused };
        let allow = self.allow.clone();
        EgressPolicy::new(EgressConfig { allow, loopback_http, ..EgressConfig::default() })
    }
}

fn read_cost<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cost>, D::Error> {
    let figure = f64::deserialize(from)?;
    Cost::from_figure(figure).map(Some).map_err(serde::de::Error::custom)
}

#[expect(clippy::ref_option, reason = "the shape serde wants")]
fn write_cost<S: Serializer>(cost: &Option<Cost>, to: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_precision_loss, reason = "what was read from such a number")]
    let figure = cost.map_or(0.0, |cost| cost.millionths() as f64 / 1_000_000.0);
    to.serialize_f64(figure)
}
