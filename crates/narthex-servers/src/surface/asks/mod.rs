//! What a server asks in the middle of a call: looked at (`vet`), put to the client that made the call
//! or put aside until it comes back (`dialogue`), and the answer looked at in turn (`reply`).
//!
//! Whatever is not known to be harmless is refused: the server is told, and the call goes on or ends
//! as the server's revision has it.

mod dialogue;
mod page;
mod reply;
mod vet;

use std::collections::BTreeMap;
use std::sync::Arc;

use narthex_core::{DefinitionName, Reason, Slug};
use narthex_gate::{
    Ask, AskKind, ClientAsker, ClientCan, ClientOfCall, NotAsked, RecordedIntent, ToolError,
};
use serde_json::{Value, json};

use self::dialogue::{Dialogue, Said, To};
use super::{ServerSurface, told};
use crate::hall::{Answered, ServerHall, View, Whose, allowed};

pub(super) use self::dialogue::Wanted;

/// Something a server asks that may be put to the client.
#[derive(Debug)]
struct Asked {
    ask: Ask,
    /// Names that may be answered, of a form.
    names: Vec<String>,
    to: To,
}

/// A call that was put aside.
struct Aside {
    dialogue: Dialogue,
    asked: Vec<(String, Asked)>,
}

/// A call in which the server may ask something.
pub(super) struct Call<'a> {
    pub(super) hall: &'a ServerHall,
    pub(super) server: &'a Slug,
    pub(super) view: &'a View,
    pub(super) intent: &'a RecordedIntent,
    pub(super) wants: &'a DefinitionName,
}

impl ServerSurface {
    /// What the server may ask in this call: what its owner allows and its client can.
    pub(super) fn may_ask(view: &View, intent: &RecordedIntent) -> ClientCan {
        match intent.client() {
            Some(_) => allowed(view.config.allow).and(intent.client_can()),
            None => ClientCan::default(),
        }
    }
}

impl Call<'_> {
    /// Makes the call, or goes on with it.
    pub(super) async fn made(
        self,
        question: Wanted,
        can: ClientCan,
    ) -> Result<Answered, ToolError> {
        let mut dialogue = match self.intent.goes_on() {
            None => self.begin(question, can).await?,
            Some(_) => self.go_on(can).await?,
        };
        loop {
            let asked = match dialogue.next().await {
                Said::Answer(answer) => {
                    let scrubber = Arc::clone(dialogue.line().scrubber());
                    return Ok(Answered { answer, scrubber });
                }
                Said::Asks(asks) => self.vetted(&mut dialogue, asks, can).await?,
            };
            if asked.is_empty() {
                continue;
            }
            match self.intent.client() {
                Some(ClientOfCall::Ask(asker)) => {
                    for asked in asked {
                        let answer = asked.put_to(asker).await;
                        dialogue.answer(asked, answer)?;
                    }
                }
                Some(ClientOfCall::PutAside) => return Err(self.put_aside(dialogue, asked)),
                None => return Err(not_allowed()),
            }
        }
    }

    async fn begin(&self, question: Wanted, can: ClientCan) -> Result<Dialogue, ToolError> {
        let line = self.hall.line(self.view, self.whose(), Some(self.wants)).await;
        let line = line.map_err(|fault| told(&fault))?;
        let can = if line.tells_whose() { can } else { ClientCan::default() };
        Ok(Dialogue::new(line, question, can, self.view.config.limits.call))
    }

    /// Takes up what was put aside: if the server still is what was approved, and may still ask.
    async fn go_on(&self, can: ClientCan) -> Result<Dialogue, ToolError> {
        let goes_on = self.intent.goes_on().ok_or_else(not_allowed)?;
        let kept = goes_on.take().and_then(|kept| kept.downcast::<Aside>().ok());
        let Some(aside) = kept else {
            return Err(ToolError::Internal("what was put aside is not there".to_owned()));
        };
        let Aside { mut dialogue, asked } = *aside;
        if asked.iter().any(|(_, asked)| !can.takes(asked.ask.kind)) {
            return Err(not_allowed());
        }
        if dialogue.line().is_modern() {
            let line = self.hall.line(self.view, self.whose(), Some(self.wants)).await;
            dialogue.take_line(line.map_err(|fault| told(&fault))?);
        }
        dialogue.line().stands(self.view, Some(self.wants)).map_err(|fault| told(&fault))?;
        for (key, asked) in asked {
            let said = goes_on.answers.get(&key).cloned();
            let answer = said.ok_or(NotAsked::Failed).and_then(|said| asked.taken(&said));
            dialogue.answer(asked, answer)?;
        }
        Ok(dialogue)
    }

    fn whose(&self) -> Whose {
        Whose::Agent(self.intent.context().principal.agent.id)
    }

    fn put_aside(&self, dialogue: Dialogue, asked: Vec<Asked>) -> ToolError {
        let plain = asked.iter().all(|asked| asked.to.key().is_some_and(is_plain_key));
        let keyed = |(n, asked): (usize, Asked)| match asked.to.key().filter(|_| plain) {
            Some(key) => (key.to_owned(), asked),
            None => (format!("ask-{}", n + 1), asked),
        };
        let asked: Vec<(String, Asked)> = asked.into_iter().enumerate().map(keyed).collect();
        let asks = asked.iter().map(|(key, asked)| (key.clone(), asked.ask.clone())).collect();
        self.intent.put_aside(asks, Box::new(Aside { dialogue, asked }))
    }

    /// What of it may be asked. What may not is refused: a request of its own alone, an answer that
    /// asks with all that it asks.
    async fn vetted(
        &self,
        dialogue: &mut Dialogue,
        asks: Vec<dialogue::Raised>,
        can: ClientCan,
    ) -> Result<Vec<Asked>, ToolError> {
        let mut vetted = Vec::new();
        for raised in asks {
            let looked = dialogue.counted().and_then(|()| {
                vet::vet(
                    self.server,
                    &raised.method,
                    raised.params,
                    can,
                    dialogue.line().scrubber(),
                )
            });
            match looked {
                Ok((ask, names)) => vetted.push(Asked { ask, names, to: raised.to }),
                Err(no) => {
                    let kind = vet::kind_of(&raised.method);
                    self.hall.ask_refused(self.server, self.intent.call(), kind).await;
                    raised.to.refuse(no)?;
                }
            }
        }
        Ok(vetted)
    }
}

impl Asked {
    async fn put_to(&self, asker: &ClientAsker) -> Result<Value, NotAsked> {
        self.taken(&asker.ask(&self.ask).await?)
    }

    fn taken(&self, said: &Value) -> Result<Value, NotAsked> {
        reply::taken(self.ask.kind, &self.names, said).ok_or(NotAsked::Failed)
    }

    /// What stands in for an answer where there is none, if the protocol has a word for it.
    fn none(&self) -> Option<Value> {
        match self.ask.kind {
            AskKind::Form | AskKind::Url => Some(json!({"action": "cancel"})),
            AskKind::Sampling | AskKind::Roots => None,
        }
    }
}

/// Whether the client may be shown the server's own word for something it asks: a name, and no text.
fn is_plain_key(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(plain)
}

/// Bytes of such a word.
const MAX_KEY: usize = 64;

/// Answers by the server's own keys.
type Responses = BTreeMap<String, Value>;

fn not_allowed() -> ToolError {
    ToolError::caller(
        Reason::UpstreamFailed,
        "the server wants to ask something before it answers, which the owner has not allowed it",
    )
}

fn not_asked(why: &str) -> ToolError {
    ToolError::caller(Reason::UpstreamFailed, format!("the server asked for something: {why}"))
}
