//! What a tool does, declared with it.

use serde::{Deserialize, Serialize};

/// What a tool reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reads {
    /// Nothing of the owner's.
    Nothing,
    /// What anyone may know.
    Public,
    /// The owner's private data.
    Private,
}

/// Whose text it brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TakesIn {
    /// Nothing, or only what the owner wrote.
    Owned,
    /// It depends on the answer (a page may be by someone else): the answer says.
    ByAnswer,
    /// Text the owner did not write.
    Foreign,
}

/// Where what it is given goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sends {
    /// Stays inside.
    Inside,
    /// Leaves the house.
    Outside,
}

/// Whether the effect waits for the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Containment {
    /// Nothing of it takes effect without the owner.
    Contained,
    /// It takes effect.
    Direct,
}

/// Where the effect lives, which decides how it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EffectSite {
    /// No effect: one record, and the answer is released against its receipt.
    Observe,
    /// Our own store: intent, effect and outcome in one transaction.
    Local,
    /// An upstream: intent durable, then the effect, then the outcome.
    External,
    /// It depends on the call, which is weighed to say: observe, or our own store.
    ByCall,
}

/// Everything a tool declares about what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// What it reads.
    pub reads: Reads,
    /// Whose text it brings back.
    pub takes_in: TakesIn,
    /// Where what it is given goes.
    pub sends: Sends,
    /// Whether the effect waits for the owner.
    pub containment: Containment,
    /// Where the effect lives.
    pub site: EffectSite,
}
