//! Opening a connection, and asking through it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::{
    Actor, AgentId, CallId, DefinitionName, Digest, Phase, RecordDraft, ServerStanding, Slug,
    Subject, Transport,
};
use narthex_gate::upstream::{
    Connection, Credentials, Line, LogLevel, Terms, UpstreamEra, UpstreamFault, UpstreamQuestion,
};
use narthex_store::{UnitOfWork, fresh_uuid};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};

use super::asks::Declares;
use super::line::ServerLine;
use super::link::Link;
use super::offered::Offered;
use super::slot::{Slot, Whose};
use super::start::Ready;
use super::starter::{Order, Running};
use super::{HallFault, HallInner, Seen, ServerHall, View, held};
use crate::config::{Reach, Resolved, ResolvedAuth, ServerConfig, ServerName};
use crate::sanitise::Scrubber;
use crate::text::shown;

/// An answer, with what takes this server's secrets out of it.
#[derive(Debug)]
pub struct Answered {
    /// What it answered, or why it did not.
    pub answer: Result<Box<RawValue>, UpstreamFault>,
    /// What knows its secrets.
    pub scrubber: Arc<Scrubber>,
}

impl ServerHall {
    /// Asks a server something of what it was approved to offer. Nothing is sent if what it offers
    /// now is not what was approved.
    pub async fn ask(
        &self,
        view: &View,
        whose: Whose,
        wants: Option<&DefinitionName>,
        question: UpstreamQuestion,
    ) -> Result<Answered, HallFault> {
        let line = self.line(view, whose, wants).await?;
        let answer = line.ask(question).await;
        self.heed(view, &answer).await;
        Ok(Answered { answer, scrubber: Arc::clone(line.scrubber()) })
    }

    /// A server that no longer believes us is in error for everyone until the owner has signed in.
    pub async fn heed<T>(&self, view: &View, answer: &Result<T, UpstreamFault>) {
        if let Err(UpstreamFault::Unauthorized { .. }) = answer {
            self.0.turned_away(view).await;
        }
    }

    /// A line to a server that offers this as it was approved.
    pub async fn line(
        &self,
        view: &View,
        whose: Whose,
        wants: Option<&DefinitionName>,
    ) -> Result<ServerLine, HallFault> {
        let whose = if view.config.stateless { Whose::Everyone } else { whose };
        let link = self.0.link(view, whose).await?;
        let line = ServerLine { link, shared: whose == Whose::Everyone };
        line.stands(view, wants)?;
        Ok(line)
    }

    /// How much of a server's log an agent wants to hear, if it said so.
    pub fn log_level(&self, name: &ServerName, agent: AgentId) -> Option<LogLevel> {
        self.0.watch(name, agent).level()
    }

    /// What takes a server's secrets out of what it says on this one's connection, while there is one.
    pub fn scrubber(&self, view: &View, whose: Whose) -> Option<Arc<Scrubber>> {
        let link = self.0.slot(whose, &view.config).link()?;
        Some(Arc::clone(&link.scrubber))
    }

    /// Records that a server asked for what is not passed on.
    pub async fn ask_refused(&self, name: &Slug, call: CallId, kind: &str) {
        let subject = Subject::one(kind, format!("server/{name}"));
        let draft = RecordDraft::new(
            Phase::House,
            call,
            Actor::House,
            Transport::Local,
            "server.ask_refused",
        );
        let record = RecordDraft { subject, reason: narthex_core::Reason::PolicyDenied, ..draft };
        if let Err(error) = self.0.parts.store.commit(UnitOfWork::records(vec![record])).await {
            tracing::error!(%error, "a refusal could not be recorded");
        }
    }

    /// What a server offers its owner now, whether approved or not. Starts it if its start is
    /// approved, anew if it had failed.
    pub async fn look(&self, view: &View) -> Result<Arc<Offered>, HallFault> {
        for slot in self.0.slots_of(&view.config.name) {
            slot.forgive();
        }
        let link = self.0.link(view, Whose::Owner).await?;
        let book = self.book().await?;
        let neighbours = self.0.neighbours(&view.config.name, &book);
        link.refresh(&neighbours, view.config.limits.connect).await?;
        self.0.note(&view.config.name, &view.standing, &link.offered()).await?;
        Ok(link.offered())
    }
}

impl HallInner {
    /// A connection that can be asked: the one there is, or a new one.
    async fn link(self: &Arc<Self>, view: &View, whose: Whose) -> Result<Arc<Link>, HallFault> {
        let slot = self.slot(whose, &view.config);
        if let Some(link) = slot.good_link() {
            return self.fresh(view, link).await;
        }
        // A task of its own: whoever asks may go away, and a failure counts all the same.
        let (hall, opens, view) = (Arc::clone(self), Arc::clone(&slot), view.clone());
        let opening = self.tasks.spawn(async move { hall.opened(&view, &opens).await });
        opening.await.unwrap_or_else(|_| {
            slot.failed(BROKE.to_owned(), Duration::ZERO);
            Err(HallFault::Start(BROKE.to_owned()))
        })
    }

    /// The connection of a slot: the one somebody else has opened meanwhile, or a new one.
    async fn opened(self: &Arc<Self>, view: &View, slot: &Slot) -> Result<Arc<Link>, HallFault> {
        let _alone = slot.opening.lock().await;
        if let Some(link) = slot.good_link() {
            return self.fresh(view, link).await;
        }
        self.clear(slot).await;
        slot.may_open()?;
        let _connects = slot.connects();
        match self.open(view, slot).await {
            Ok(link) => {
                slot.put(Arc::clone(&link));
                Ok(link)
            }
            Err(fault) => {
                // What the owner has to decide on is no failure of the server's.
                if matches!(
                    fault,
                    HallFault::Upstream { .. } | HallFault::Start(_) | HallFault::SignIn(_)
                ) {
                    slot.failed(shown(&fault.to_string(), MAX_WHY), Duration::ZERO);
                }
                Err(fault)
            }
        }
    }

    /// The link, after it was asked again for lists that it says have changed.
    async fn fresh(&self, view: &View, link: Arc<Link>) -> Result<Arc<Link>, HallFault> {
        if link.is_stale() {
            self.refresh(&view.config, &view.standing, &link).await?;
        }
        Ok(link)
    }

    pub(super) async fn refresh(
        &self,
        config: &ServerConfig,
        standing: &ServerStanding,
        link: &Link,
    ) -> Result<(), HallFault> {
        let book = self.parts.store.servers().await?;
        let name = &config.name;
        link.refresh(&self.neighbours(name, &book), config.limits.connect).await?;
        self.note(name, standing, &link.offered()).await
    }

    /// Takes away what ended or hangs, and counts it as a failure.
    pub(super) async fn clear(&self, slot: &Slot) {
        let Some((link, stood)) = slot.take() else { return };
        let why = match link.ended() {
            Some(fault) => fault.to_string(),
            None => "it left questions unanswered".to_owned(),
        };
        let ended = link.close().await.map(|how| format!(" ({how})")).unwrap_or_default();
        slot.failed(shown(&format!("{why}{ended}"), MAX_WHY), stood);
    }

    async fn open(self: &Arc<Self>, view: &View, slot: &Slot) -> Result<Arc<Link>, HallFault> {
        let book = self.parts.store.servers().await?;
        // The newest word counts, not the one the view was made by.
        let standing = book.standings.get(view.config.name.slug()).cloned().unwrap_or_default();
        if !book.on {
            return Err(HallFault::Off);
        }
        if standing.disabled || view.config.disabled {
            return Err(HallFault::Disabled(view.config.name.to_string()));
        }
        let ready = self.ready(&view.base, &view.config).await?;
        ready.check(&standing)?;
        let folders = self.parts.config.folders.iter().map(String::as_str);
        let scrubber = Scrubber::of(&ready.resolved, folders).confiding(&view.config.confided());
        let scrubber = Arc::new(scrubber);
        let opened = match &ready.resolved {
            Resolved::Http { .. } => self.reach(view, &ready, slot).await?,
            Resolved::Process { .. } => self.spawn(view, &ready, slot).await?,
        };
        let neighbours = self.neighbours(&view.config.name, &book);
        let connection = opened.connection.as_ref();
        let offered = match Offered::ask(connection, &neighbours, opened.until.left()).await {
            Ok(offered) => offered,
            Err(UpstreamFault::Late(_)) => {
                return Err(opened.abandon(UpstreamFault::Late(view.config.limits.connect)).await);
            }
            Err(fault) => return Err(opened.abandon(fault).await),
        };
        if let Some(watch) = self.watch_of(&view.config.name, slot.whose) {
            watch.tell(connection, opened.until.left()).await;
        }
        let link = Link::new(opened.connection, opened.process, offered, scrubber, opened.place);
        self.note(&view.config.name, &standing, &link.offered()).await?;
        Ok(Arc::new(link))
    }

    async fn reach(&self, view: &View, ready: &Ready, slot: &Slot) -> Result<Opened, HallFault> {
        let Resolved::Http { url, headers, auth, .. } = &ready.resolved else {
            return Err(HallFault::Start("it is no server at a URL".to_owned()));
        };
        let credentials: Option<Arc<dyn Credentials>> = match (auth, ready.tokens_for(view)) {
            (Some(ResolvedAuth::Bearer(token)), _) => Some(Arc::new(Standing(token.clone()))),
            (_, Some(wanted)) => {
                Some(self.parts.config.tokens.credentials(wanted).map_err(HallFault::Start)?)
            }
            (_, None) => None,
        };
        let line = Line::Http {
            url: url.expose_secret().to_owned(),
            headers: headers.clone(),
            credentials,
        };
        let until = Until::after(view.config.limits.connect);
        let (terms, declares) = (terms(view, view.config.era, until), self.declares(view, slot));
        let connected = self.parts.config.connector.connect(line, terms, declares);
        let connection = connected.await.map_err(|fault| view.told(fault))?;
        Ok(Opened { connection, process: None, place: None, until })
    }

    async fn spawn(&self, view: &View, ready: &Ready, slot: &Slot) -> Result<Opened, HallFault> {
        let place = self.place(view.config.limits.connect).await?;
        let until = Until::after(view.config.limits.connect);
        match self.spawn_speaking(view, ready, slot, (view.config.era, until), place).await {
            // Some of the older ones end at the first word they do not know.
            Err((HallFault::Upstream { fault: UpstreamFault::Ended(_), .. }, Some(place)))
                if view.config.era == UpstreamEra::Either =>
            {
                let legacy = (UpstreamEra::Legacy, until);
                self.spawn_speaking(view, ready, slot, legacy, place).await.map_err(|(f, _)| f)
            }
            opened => opened.map_err(|(fault, _)| fault),
        }
    }

    async fn spawn_speaking(
        &self,
        view: &View,
        ready: &Ready,
        slot: &Slot,
        (era, until): (UpstreamEra, Until),
        place: OwnedSemaphorePermit,
    ) -> Result<Opened, (HallFault, Option<OwnedSemaphorePermit>)> {
        let (Reach::Process(process), Resolved::Process { args, env }, Some(found)) =
            (&view.config.reach, &ready.resolved, &ready.found)
        else {
            return Err((HallFault::Start("it is no process".to_owned()), None));
        };
        let order = Order {
            server: view.config.name.clone(),
            room: slot.whose.room(),
            program: found.program.path.clone(),
            expected: found.program.sha256,
            args: args.clone(),
            env: env.clone(),
            cwd: process.cwd.clone(),
            walls: view.config.walls.clone(),
        };
        let started =
            self.parts.config.starter.start(&order).map_err(|why| (HallFault::Start(why), None))?;
        let said = started.process.log();
        slot.listen_to(started.process.log());
        let line = Line::Pipes { to: started.to, from: started.from };
        let (terms, declares) = (terms(view, era, until), self.declares(view, slot));
        let connecting = self.parts.config.connector.connect(line, terms, declares);
        let mut process = started.process;
        match connecting.await {
            Ok(connection) => {
                Ok(Opened { connection, process: Some(process), place: Some(place), until })
            }
            Err(fault) => {
                let ended = process.stop().await;
                let last = last_words(&said.lines());
                Err((
                    HallFault::Upstream { fault, ended: Some(format!("{ended}{last}")) },
                    Some(place),
                ))
            }
        }
    }

    fn declares(&self, view: &View, slot: &Slot) -> Arc<Declares> {
        let watch = self.watch_of(&view.config.name, slot.whose);
        Arc::new(Declares::new(view.config.allow, watch))
    }

    /// A place among the processes that may run; one that nobody uses makes room.
    async fn place(&self, patience: Duration) -> Result<OwnedSemaphorePermit, HallFault> {
        let places = &self.places;
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            return Ok(place);
        }
        if !self.end_idlest().await {
            return Err(HallFault::Full(self.parts.config.started));
        }
        match timeout(patience, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(HallFault::Full(self.parts.config.started)),
        }
    }

    /// Ends the process that was not used for the longest time. False if all are in use.
    async fn end_idlest(&self) -> bool {
        let idle = |slot: &Arc<Slot>| {
            let link = slot.link().filter(|link| link.is_process())?;
            link.idle().map(|idle| (idle, Arc::clone(slot)))
        };
        let slots = self.all_slots();
        let Some((_, slot)) = slots.iter().filter_map(idle).max_by_key(|(idle, _)| *idle) else {
            return false;
        };
        if let Some((link, _)) = slot.take() {
            link.close().await;
        }
        true
    }

    /// Remembers what a server offers, and records once what of it is not as it was approved.
    pub(super) async fn note(
        &self,
        name: &ServerName,
        standing: &ServerStanding,
        offered: &Arc<Offered>,
    ) -> Result<(), HallFault> {
        let moved = offered.departs(standing);
        // Before anything was approved all of it is new, and shown to the owner anyway.
        let news =
            if standing.definitions.is_empty() { Vec::new() } else { offered.news(standing) };
        let said: Vec<String> = moved
            .iter()
            .chain(&news)
            .map(|(name, now)| {
                format!("{name}={}", now.map_or_else(String::new, |d| d.to_string()))
            })
            .collect();
        let digest = (!said.is_empty()).then(|| Digest::of(said.join("\n").as_bytes()));
        let before = held(&self.seen).get(name).and_then(|seen| seen.noted);
        if digest != before && digest.is_some() {
            let records = records(name, &moved, &news);
            self.parts.store.commit(UnitOfWork::records(records)).await?;
        }
        let seen = Seen { offered: Arc::clone(offered), noted: digest };
        held(&self.seen).insert(name.clone(), seen);
        Ok(())
    }
}

/// What a process said last before it ended, for its owner.
fn last_words(lines: &[String]) -> String {
    let last: Vec<String> =
        lines.iter().rev().take(LAST_LINES).rev().map(|line| shown(line, MAX_WHY)).collect();
    if last.is_empty() { String::new() } else { format!("; it said: {}", last.join(" / ")) }
}

/// What is recorded of a server that offers something else than was approved: each of the first few
/// that changed, how many more did, and what is new in one.
fn records(name: &ServerName, moved: &[Moved], news: &[Moved]) -> Vec<RecordDraft> {
    let record = |action: &str, subject: Subject| RecordDraft {
        subject,
        ..RecordDraft::new(
            Phase::House,
            CallId::from_uuid(fresh_uuid()),
            Actor::House,
            Transport::Local,
            action,
        )
    };
    let counted = |count: usize, digest: Option<Digest>| Subject {
        count: Some(count as u64),
        digest,
        ..Subject::one("server", name)
    };
    let one = |(definition, now): &Moved| {
        let action = if now.is_some() { "server.changed" } else { "server.withdrew" };
        let id = format!("{name} {}", shown(&definition.to_string(), MAX_ID));
        record(action, Subject { digest: *now, ..Subject::one("definition", id) })
    };
    let mut records: Vec<RecordDraft> = moved.iter().take(MAX_RECORDS).map(one).collect();
    if let Some(more) = moved.len().checked_sub(MAX_RECORDS).filter(|more| *more > 0) {
        records.push(record("server.changed", counted(more, None)));
    }
    if !news.is_empty() {
        let names: Vec<String> = news.iter().map(|(name, _)| name.to_string()).collect();
        let digest = Digest::of(names.join("\n").as_bytes());
        records.push(record("server.offers", counted(news.len(), Some(digest))));
    }
    records
}

/// A definition, and what it is now.
type Moved = (DefinitionName, Option<Digest>);

/// Until when a server must have greeted and said what it offers.
#[derive(Debug, Clone, Copy)]
struct Until(Instant);

impl Until {
    fn after(limit: Duration) -> Self {
        Self(Instant::now() + limit)
    }

    fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

fn terms(view: &View, era: UpstreamEra, until: Until) -> Terms {
    let limits = &view.config.limits;
    Terms {
        era,
        connect_deadline: until.left(),
        line_bytes: limits.line_bytes,
        result_bytes: limits.result_bytes,
        questions: limits.questions,
    }
}

/// A connection before its offer was looked at.
struct Opened {
    connection: Arc<dyn Connection>,
    process: Option<Box<dyn Running>>,
    place: Option<OwnedSemaphorePermit>,
    until: Until,
}

impl Opened {
    async fn abandon(self, fault: UpstreamFault) -> HallFault {
        self.connection.close().await;
        let ended = match self.process {
            Some(mut process) => Some(process.stop().await),
            None => None,
        };
        HallFault::Upstream { fault, ended }
    }
}

/// A token that stands. Once it was refused there is no other.
#[derive(Debug)]
struct Standing(SecretString);

#[async_trait]
impl Credentials for Standing {
    async fn bearer(
        &self,
        _refused: Option<(&SecretString, &str)>,
    ) -> Result<Option<SecretString>, UpstreamFault> {
        Ok(Some(self.0.clone()))
    }
}

/// What is said of an opening that nobody can say more about.
const BROKE: &str = "it could not be opened";
const MAX_WHY: usize = 300;
/// Lines of a process that are told when it fails.
const LAST_LINES: usize = 3;
const MAX_ID: usize = 160;
const MAX_RECORDS: usize = 32;
