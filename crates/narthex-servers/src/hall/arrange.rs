//! What an agent arranges with a server for all its calls, told to the server and kept for the next
//! connection.

use narthex_core::{AgentId, DefinitionName};
use narthex_gate::Foreign;
use narthex_gate::upstream::LogLevel;

use super::open::Answered;
use super::slot::Whose;
use super::watch::{level_asked, uri_asked};
use super::{HallFault, ServerHall, View};

/// What came of it.
#[derive(Debug)]
pub enum Arranged {
    /// The server was told, and answered.
    Answered(Answered),
    /// There was nobody to tell: the newer revision says it with each call.
    Here,
    /// The server has no such thing, or all agents share one connection to it.
    NotOffered,
    /// There is no room for more.
    Full,
}

impl ServerHall {
    /// How much of a server's log an agent wants to hear from now on.
    pub async fn set_level(
        &self,
        view: &View,
        agent: AgentId,
        level: LogLevel,
    ) -> Result<Arranged, HallFault> {
        if view.config.stateless {
            return Ok(Arranged::NotOffered);
        }
        let line = self.line(view, Whose::Agent(agent), None).await?;
        if !line.link.greeting().capabilities.contains_key("logging") {
            return Ok(Arranged::NotOffered);
        }
        let watch = self.0.watch(&view.config.name, agent);
        if line.is_modern() {
            watch.set_level(level);
            return Ok(Arranged::Here);
        }
        let answer = line.ask(level_asked(level, view.config.limits.call)).await;
        if answer.is_ok() {
            watch.set_level(level);
        }
        Ok(Arranged::Answered(Answered { answer, scrubber: line.scrubber().clone() }))
    }

    /// Whether an agent wants to know of a resource's changes.
    pub async fn set_watch(
        &self,
        view: &View,
        agent: AgentId,
        (uri, watches): (&str, bool),
        wants: &DefinitionName,
    ) -> Result<Arranged, HallFault> {
        if view.config.stateless {
            return Ok(Arranged::NotOffered);
        }
        let line = self.line(view, Whose::Agent(agent), Some(wants)).await?;
        // In the newer revision this is said on a stream of its own, which is not opened here yet.
        if line.is_modern() || !line.link.offers_watching() {
            return Ok(Arranged::NotOffered);
        }
        let watch = self.0.watch(&view.config.name, agent);
        if watches && !watch.has_room(uri) {
            return Ok(Arranged::Full);
        }
        let method = if watches { Foreign::SUBSCRIBE } else { Foreign::UNSUBSCRIBE };
        if !watches {
            // Whatever the server says to it, nothing more is told.
            watch.remove(uri);
        }
        let answer = line.ask(uri_asked(method, uri, view.config.limits.call)).await;
        if watches && answer.is_ok() {
            watch.add(uri);
        }
        Ok(Arranged::Answered(Answered { answer, scrubber: line.scrubber().clone() }))
    }
}
