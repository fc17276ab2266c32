//! The hall: where other people's servers are started, asked, watched and ended.
//!
//! ```text
//! sheet (the owner's file) ─┐
//! book (what was approved) ─┼─ start ─ open ─ link ─ ask
//! profiles of the agent ────┘   slot: whose it is, failures, backoff
//!                               tend: idle, hung, ended, lists that changed
//! ```
//!
//! Nothing runs until somebody asks. A server that hangs or crashes holds nobody up but those who
//! ask it: each connection has a place of its own, bounds of its own and failures of its own.

mod arrange;
mod asks;
mod fault;
mod line;
mod link;
mod offered;
mod open;
mod rules;
mod sheet;
mod sign_in;
mod slot;
mod start;
mod starter;
mod tend;
mod views;
mod watch;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use narthex_core::{AgentId, DefinitionKind, Digest, ServerBook, ServerStanding, Slug};
use narthex_gate::upstream::{Connector, Credentials};
use narthex_store::Store;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncGuard, Semaphore, broadcast};
use tokio_util::task::TaskTracker;

pub use arrange::Arranged;
pub use asks::{allowed, declared};
pub use fault::HallFault;
pub use line::ServerLine;
pub use offered::{Item, Offered, Stands};
pub use open::Answered;
pub use sheet::SheetFault;
pub use sign_in::{Brought, SignInAsked, SignedIn};
pub use slot::{ServerState, Whose};
pub use start::Ready;
#[cfg(target_os = "linux")]
pub use starter::WalledStarter;
pub use starter::{Order, Running, Said, Started, Starter};

use crate::config::{Lookup, OAuth, ServerConfig, ServerName, ServersFile};
use crate::pin::Definition;
use crate::profile;
use crate::scan::Neighbours;
use rules::Noted;
use sheet::Sheet;
use slot::Slot;
use views::Views;
use watch::Watch;

/// What a hall is built from.
#[derive(Debug)]
pub struct HallParts {
    /// Where what was approved is kept, and where what happened is recorded.
    pub store: Arc<dyn Store>,
    /// Tools of the house itself, with whose they are: nobody may pass for one of them.
    pub house_tools: Vec<(String, String)>,
    /// The rest of it.
    pub config: HallConfig,
}

/// What it takes to reach, start and name servers.
#[derive(Debug)]
pub struct HallConfig {
    /// Opens connections.
    pub connector: Arc<dyn Connector>,
    /// Starts processes.
    pub starter: Arc<dyn Starter>,
    /// Where the values of variables come from.
    pub lookup: Arc<dyn LookupAnywhere>,
    /// Asks for tokens where a server wants OAuth.
    pub tokens: Arc<dyn TokenDesk>,
    /// The file that names servers.
    pub file: PathBuf,
    /// How many it may name.
    pub most: usize,
    /// How many processes may run at once.
    pub started: usize,
    /// The folders programs are looked for in.
    pub path: String,
    /// Folders of this machine that no error shows.
    pub folders: Vec<String>,
}

/// A lookup that can be asked from any thread.
pub trait LookupAnywhere: Lookup + std::fmt::Debug + Send + Sync {}

impl<T: Lookup + std::fmt::Debug + Send + Sync> LookupAnywhere for T {}

/// Asks for the tokens of servers that want OAuth. What goes wrong is said in words for the owner,
/// and without a secret.
#[async_trait]
pub trait TokenDesk: std::fmt::Debug + Send + Sync {
    /// What proves who we are to a server.
    fn credentials(&self, wanted: TokensFor<'_>) -> Result<Arc<dyn Credentials>, String>;

    /// Begins a sign-in: where the owner's browser goes, to come back to `redirect`.
    async fn begin(&self, wanted: TokensFor<'_>, redirect: &str) -> Result<SignInAsked, String> {
        let _ = redirect;
        Err(format!("{} cannot be signed in to here", wanted.server))
    }

    /// Ends a sign-in with what the browser brought back, once.
    async fn finish(&self, wanted: TokensFor<'_>, brought: Brought) -> Result<SignedIn, String> {
        drop(brought);
        Err(format!("{} cannot be signed in to here", wanted.server))
    }

    /// Forgets a sign-in. Whether there was one.
    async fn forget(&self, server: &ServerName) -> Result<bool, String> {
        let _ = server;
        Ok(false)
    }
}

/// What it takes to ask for tokens.
#[derive(Debug, Clone, Copy)]
pub struct TokensFor<'a> {
    /// For which server.
    pub server: &'a ServerName,
    /// Where it is.
    pub url: &'a secrecy::SecretString,
    /// Who we are.
    pub client_id: Option<&'a secrecy::SecretString>,
    /// How we prove it.
    pub client_secret: Option<&'a secrecy::SecretString>,
    /// The rest of it.
    pub settings: &'a OAuth,
}

/// The servers of a house. Cheap to clone; all clones are one hall.
#[derive(Debug, Clone)]
pub struct ServerHall(Arc<HallInner>);

#[derive(Debug)]
pub(crate) struct HallInner {
    parts: HallParts,
    sheet: Sheet,
    views: Views,
    noted: Noted,
    slots: Mutex<HashMap<ServerName, Vec<Arc<Slot>>>>,
    /// What agents want to hear of servers.
    watches: Mutex<HashMap<ServerName, HashMap<AgentId, Arc<Watch>>>>,
    places: Arc<Semaphore>,
    /// What each server was last seen to offer.
    seen: Mutex<HashMap<ServerName, Seen>>,
    tasks: TaskTracker,
    deciding: AsyncMutex<()>,
}

#[derive(Debug, Clone)]
struct Seen {
    offered: Arc<Offered>,
    /// The digest of what was recorded of it last, so that it is recorded once.
    noted: Option<Digest>,
}

/// A server as one agent has it.
#[derive(Debug, Clone)]
pub struct View {
    /// As the file has it.
    pub base: Arc<ServerConfig>,
    /// As it is under the agent's profiles.
    pub config: Arc<ServerConfig>,
    /// What was approved of it.
    pub standing: Arc<ServerStanding>,
}

impl ServerHall {
    /// Over these parts. Nothing is started.
    pub fn new(parts: HallParts) -> Self {
        let sheet = Sheet::new(parts.config.file.clone(), parts.config.most);
        let places = Arc::new(Semaphore::new(parts.config.started));
        Self(Arc::new(HallInner {
            parts,
            sheet,
            views: Views::default(),
            noted: Noted::default(),
            slots: Mutex::default(),
            watches: Mutex::default(),
            places,
            seen: Mutex::default(),
            tasks: TaskTracker::new(),
            deciding: AsyncMutex::new(()),
        }))
    }

    /// Held by whoever changes what is approved: one decision is not written over another.
    pub async fn deciding(&self) -> AsyncGuard<'_, ()> {
        self.0.deciding.lock().await
    }

    /// Where the file is.
    pub fn file(&self) -> &Path {
        self.0.sheet.path()
    }

    /// What the file says now.
    pub fn sheet(&self) -> Result<Arc<ServersFile>, HallFault> {
        Ok(self.0.sheet.now()?)
    }

    /// What was approved.
    pub async fn book(&self) -> Result<Arc<ServerBook>, HallFault> {
        Ok(self.0.parts.store.servers().await?)
    }

    /// The servers an agent has, as they are under its profiles.
    pub async fn servers_of(
        &self,
        agent: AgentId,
    ) -> Result<BTreeMap<ServerName, ServerConfig>, HallFault> {
        let book = self.book().await?;
        if !book.on {
            return Ok(BTreeMap::new());
        }
        let file = self.sheet()?;
        stacked(&file, book.profiles.get(&agent).map_or(&[], Vec::as_slice))
    }

    /// A server as an agent has it. None: it has none of that name, or the owner has not let it in.
    pub async fn view(&self, agent: AgentId, name: &Slug) -> Result<Option<View>, HallFault> {
        let book = self.book().await?;
        let Some(standing) = book.standings.get(name).filter(|_| book.on) else { return Ok(None) };
        if standing.disabled || standing.start.is_none() {
            return Ok(None);
        }
        let file = self.sheet()?;
        self.0.note_rules(&file, &book).await?;
        let profiles = book.profiles.get(&agent).map_or(&[] as &[Slug], Vec::as_slice);
        let under = self.0.views.of(&file, profiles)?;
        let Ok(name) = name.as_str().parse::<ServerName>() else { return Ok(None) };
        let Some((base, config)) = under.get(&name) else { return Ok(None) };
        let (base, config) = (Arc::clone(base), Arc::clone(config));
        Ok(Some(View { base, config, standing: Arc::clone(standing) }))
    }

    /// A server as its owner has it: as the file says.
    pub async fn owners_view(&self, name: &ServerName) -> Result<View, HallFault> {
        let book = self.book().await?;
        if !book.on {
            return Err(HallFault::Off);
        }
        let file = self.sheet()?;
        let base = file.servers.get(name).ok_or_else(|| HallFault::Unknown(name.to_string()))?;
        let base = Arc::new(base.clone());
        let standing = book.standings.get(name.slug()).cloned().unwrap_or_default();
        Ok(View { config: Arc::clone(&base), base, standing })
    }

    /// What would be started for a server.
    pub async fn ready(&self, view: &View) -> Result<Ready, HallFault> {
        self.0.ready(&view.base, &view.config).await
    }

    /// How a server is, over all of its connections: the worst of what keeps someone from using it.
    pub fn state(&self, name: &ServerName) -> ServerState {
        let slots = self.0.slots_of(name);
        let states: Vec<ServerState> = slots.iter().map(|slot| slot.state()).collect();
        let find = |wanted: fn(&ServerState) -> bool| states.iter().find(|s| wanted(s)).cloned();
        find(|state| matches!(state, ServerState::Connected))
            .or_else(|| find(|state| matches!(state, ServerState::Connecting)))
            .or_else(|| find(|state| matches!(state, ServerState::Error(_))))
            .unwrap_or(ServerState::Idle)
    }

    /// What its processes said on standard error, the oldest first.
    pub fn said(&self, name: &ServerName) -> Vec<(Whose, Vec<String>)> {
        let slots = self.0.slots_of(name);
        slots.iter().map(|slot| (slot.whose, slot.said())).collect()
    }

    /// Addresses of resources that change, as far as this agent watches them.
    pub fn changes(&self, name: &ServerName, agent: AgentId) -> broadcast::Receiver<Arc<str>> {
        self.0.watch(name, agent).listen()
    }

    /// What a server was last seen to offer, if it was since this house was opened.
    pub fn seen(&self, name: &ServerName) -> Option<Arc<Offered>> {
        let seen = held(&self.0.seen);
        seen.get(name).map(|seen| Arc::clone(&seen.offered))
    }

    /// The definitions of a server as they were approved.
    pub async fn approved(&self, standing: &ServerStanding) -> Result<Vec<Definition>, HallFault> {
        let mut approved = Vec::with_capacity(standing.definitions.len());
        for (name, digest) in &standing.definitions {
            // A text that is gone, or is another, approves nothing.
            let Some(text) = self.0.parts.store.definition(*digest).await? else { continue };
            let definition = Definition::read_pinned(&text);
            let fits = |d: &Definition| d.digest == *digest && d.key.definition_name() == *name;
            approved.extend(definition.filter(fits));
        }
        Ok(approved)
    }
}

impl HallInner {
    fn slots_of(&self, name: &ServerName) -> Vec<Arc<Slot>> {
        held(&self.slots).get(name).cloned().unwrap_or_default()
    }

    /// The place of this one's connection, made if there is none.
    fn slot(&self, whose: Whose, config: &Arc<ServerConfig>) -> Arc<Slot> {
        let mut slots = held(&self.slots);
        let of_server = slots.entry(config.name.clone()).or_default();
        if let Some(slot) = of_server.iter().find(|slot| slot.is(whose, config)) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(Slot::new(whose, Arc::clone(config)));
        of_server.push(Arc::clone(&slot));
        slot
    }

    /// What an agent wants to hear of a server.
    fn watch(&self, name: &ServerName, agent: AgentId) -> Arc<Watch> {
        let mut watches = held(&self.watches);
        Arc::clone(watches.entry(name.clone()).or_default().entry(agent).or_default())
    }

    /// The same for whoever a connection belongs to. Everyone's is nobody's.
    fn watch_of(&self, name: &ServerName, whose: Whose) -> Option<Arc<Watch>> {
        match whose {
            Whose::Agent(agent) => Some(self.watch(name, agent)),
            Whose::Everyone | Whose::Owner => None,
        }
    }

    fn all_slots(&self) -> Vec<Arc<Slot>> {
        held(&self.slots).values().flatten().cloned().collect()
    }

    /// Tools of everyone but this server.
    fn neighbours(&self, but: &ServerName, book: &ServerBook) -> Neighbours {
        let ours = self.parts.house_tools.iter().map(|(who, tool)| (who.clone(), tool.clone()));
        let others = book.standings.iter().filter(|(name, _)| *name != but.slug());
        let others = others.flat_map(|(name, standing)| {
            let tools = standing.definitions.keys().filter(|d| d.kind == DefinitionKind::Tool);
            tools.map(|definition| (name.to_string(), definition.name.clone()))
        });
        Neighbours::new(ours.chain(others))
    }
}

fn stacked(
    file: &ServersFile,
    profiles: &[Slug],
) -> Result<BTreeMap<ServerName, ServerConfig>, HallFault> {
    // A profile that is no longer in the file gives nothing.
    let known = profiles.iter().filter_map(|name| file.profiles.get(name));
    Ok(profile::stack(known, &file.servers)?)
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
