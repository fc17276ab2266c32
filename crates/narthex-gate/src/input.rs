//! What an upstream asks of the client in the middle of a call: in which words it goes to the client,
//! and how the client is reached. Which of it may be asked at all is the surface's to say.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use narthex_core::Timestamp;
use serde_json::Value;

use crate::pipeline::ClientAsker;

/// What a client says it can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientCan {
    /// To show its person a form.
    pub forms: bool,
    /// To send its person to a URL.
    pub urls: bool,
    /// To have its model say something.
    pub samples: bool,
    /// To say which folders it works in.
    pub roots: bool,
}

impl ClientCan {
    /// What both allow.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            forms: self.forms && other.forms,
            urls: self.urls && other.urls,
            samples: self.samples && other.samples,
            roots: self.roots && other.roots,
        }
    }

    /// Whether it can be asked this.
    pub const fn takes(self, kind: AskKind) -> bool {
        match kind {
            AskKind::Form => self.forms,
            AskKind::Url => self.urls,
            AskKind::Sampling => self.samples,
            AskKind::Roots => self.roots,
        }
    }

    /// Whether there is nothing that it can be asked.
    pub const fn is_nothing(self) -> bool {
        !self.forms && !self.urls && !self.samples && !self.roots
    }
}

/// What kind of thing is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskKind {
    /// A form for the person.
    Form,
    /// A page for the person to open.
    Url,
    /// A few words by the client's model.
    Sampling,
    /// Which folders the client works in.
    Roots,
}

impl AskKind {
    /// The word for it in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Form => "elicitation",
            Self::Url => "elicitation-url",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }
}

/// One thing that is asked, as the client is to see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// What kind of thing.
    pub kind: AskKind,
    /// The method, in the protocol's words.
    pub method: &'static str,
    /// Its parameters: cleaned, bounded, and marked as the upstream's.
    pub params: Value,
}

/// A client that can be asked while its call is under way.
#[async_trait]
pub trait AsksClient: fmt::Debug + Send + Sync {
    /// Asks; the answer is the client's word and looked at by nobody yet.
    async fn ask(&self, ask: &Ask) -> Result<Value, NotAsked>;
}

/// How the client of a call is asked.
#[derive(Debug, Clone)]
pub enum ClientWay {
    /// While the call is under way.
    InPlace(Arc<dyn AsksClient>),
    /// By ending the call with what is asked; the client repeats it with the answers.
    ByRepeating,
}

/// The client of a call, as far as an upstream may ask it something.
#[derive(Debug, Clone)]
pub struct AskableClient {
    /// What it can be asked.
    pub can: ClientCan,
    /// How.
    pub way: ClientWay,
}

/// What a call with an upstream in the middle of it may do about its client.
#[derive(Debug)]
pub enum ClientOfCall<'a> {
    /// Ask, and wait.
    Ask(&'a ClientAsker),
    /// Put the call aside ([`crate::RecordedIntent::put_aside`]).
    PutAside,
}

/// Something was not asked, or not answered. What is said is for the upstream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAsked {
    /// The client said that it cannot.
    #[error("the client could not be asked")]
    Failed,
    /// It did not answer in time.
    #[error("nobody answered in time")]
    Late,
    /// It was answered, and the answer may not leave any more.
    #[error("the answer may not be sent")]
    NotSent,
    /// It could not be recorded.
    #[error("it cannot be asked now")]
    Unavailable,
}

/// What a client sends when it repeats a call with its answers.
#[derive(Debug, Clone)]
pub struct Repeats {
    /// The call that was put aside.
    pub ticket: Ticket,
    /// What it answers, by the key it was asked under.
    pub answers: BTreeMap<String, Value>,
}

/// The name of a call that was put aside: worth something only with the seal the edge puts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(pub [u8; 16]);

/// A call that was put aside until its client has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputNeeded {
    /// What it is called.
    pub ticket: Ticket,
    /// Until when it waits.
    pub until: Timestamp,
    /// What is asked, by key.
    pub asks: Vec<(String, Ask)>,
}

/// What a surface keeps of a call while it is put aside. Dropping it ends what is under way.
pub type Kept = Box<dyn Any + Send>;

/// A call that goes on where it was put aside.
#[derive(Debug)]
pub struct GoesOn {
    /// What the client answered, by the key it was asked under.
    pub answers: BTreeMap<String, Value>,
    kept: Mutex<Option<KeptBox>>,
}

impl GoesOn {
    pub(crate) fn new(answers: BTreeMap<String, Value>, kept: Kept) -> Self {
        Self { answers, kept: Mutex::new(Some(KeptBox(kept))) }
    }

    /// What the surface kept of it; once.
    pub fn take(&self) -> Option<Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).take().map(|kept| kept.0)
    }
}

/// Something a surface keeps, that says nothing of itself.
pub(crate) struct KeptBox(pub(crate) Kept);

impl fmt::Debug for KeptBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}
