//! What the owner's file says of tiers and effects, in the ledger whenever it says something else.
//!
//! INVARIANT: what the file says counts for an agent only after what is different in it was recorded.
//! What was recorded last is kept beside what was approved, so that a restart hides no change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use narthex_core::{
    Actor, CallId, Digest, Phase, Reads, RecordDraft, Sends, ServerBook, ServerStanding, Slug,
    Subject, TakesIn, Transport,
};
use narthex_store::{Effect, UnitOfWork, fresh_uuid};
use tokio::sync::Mutex as AsyncMutex;

use super::{HallFault, HallInner, held};
use crate::config::{ServerName, ServersFile, ToolRule};
use crate::text::shown;

/// What was looked at last, so that a call need not look again.
#[derive(Debug, Default)]
pub(super) struct Noted {
    last: Mutex<Option<(Arc<ServersFile>, Arc<ServerBook>)>>,
    /// Held by whoever records: nothing is recorded twice.
    recording: AsyncMutex<()>,
}

impl Noted {
    fn knows(&self, file: &Arc<ServersFile>, book: &Arc<ServerBook>) -> bool {
        let last = held(&self.last);
        last.as_ref().is_some_and(|(f, b)| Arc::ptr_eq(f, file) && Arc::ptr_eq(b, book))
    }
}

impl HallInner {
    /// Records what of tiers and effects the file says otherwise than when it was last recorded.
    pub(super) async fn note_rules(
        &self,
        file: &Arc<ServersFile>,
        book: &Arc<ServerBook>,
    ) -> Result<(), HallFault> {
        if self.noted.knows(file, book) {
            return Ok(());
        }
        let _alone = self.noted.recording.lock().await;
        let store = &self.parts.store;
        for (name, standing) in &store.servers().await?.standings {
            let Some(rules) = said(file, name).filter(|rules| *rules != standing.rules) else {
                continue;
            };
            let records = changes(name, standing, &rules);
            let effect = Some(Effect::NoteServerRules { name: name.clone(), rules });
            store.commit(UnitOfWork { effect, ..UnitOfWork::records(records) }).await?;
        }
        *held(&self.noted.last) = Some((Arc::clone(file), store.servers().await?));
        Ok(())
    }
}

/// What a file says of a server, rule by rule; none if it does not name it.
fn said(file: &ServersFile, name: &Slug) -> Option<BTreeMap<String, String>> {
    let name: ServerName = name.as_str().parse().ok()?;
    let server = file.servers.get(&name)?;
    let of_tools = server.tools.iter().map(|(tool, rule)| (tool.clone(), words(rule)));
    let own = std::iter::once((EVERY.to_owned(), words(&server.rule))).chain(of_tools);
    let mut rules: BTreeMap<String, String> = own.collect();
    for (profile, of) in &file.profiles {
        let Some(overrides) = of.overrides.get(&name) else { continue };
        for (tool, said) in &overrides.tools {
            let rule = said.over(server.rule_for(tool));
            rules.insert(format!("{tool} in {profile}"), words(&rule));
        }
    }
    if rules.len() <= MOST_RULES {
        return Some(rules);
    }
    // More than is kept one by one: that something changed is told, and not what.
    let all: Vec<String> = rules.iter().map(|(of, rule)| format!("{of}={rule}")).collect();
    let digest = Digest::of(all.join("\n").as_bytes());
    Some(BTreeMap::from([(EVERY.to_owned(), format!("{} rules, {digest}", all.len()))]))
}

fn words(rule: &ToolRule) -> String {
    let reads = match rule.effects.reads {
        Reads::Nothing => "nothing",
        Reads::Public => "public",
        Reads::Private => "private",
    };
    let takes_in = match rule.effects.takes_in {
        TakesIn::Owned => "owned",
        TakesIn::Foreign | TakesIn::ByAnswer => "foreign",
    };
    let sends = match rule.effects.sends {
        Sends::Inside => "inside",
        Sends::Outside => "outside",
    };
    format!("{} reads={reads} takesIn={takes_in} sends={sends}", rule.tier)
}

/// What is recorded: of a server that nothing was recorded of, how many rules there are, and their
/// digest; of any other each of the first few that changed, and how many more did.
fn changes(
    name: &Slug,
    standing: &ServerStanding,
    now: &BTreeMap<String, String>,
) -> Vec<RecordDraft> {
    let before = &standing.rules;
    if before.is_empty() {
        let all: Vec<String> = now.iter().map(|(of, rule)| format!("{of}={rule}")).collect();
        let digest = Some(Digest::of(all.join("\n").as_bytes()));
        let count = Some(all.len() as u64);
        return vec![record(
            "server.rules",
            Subject { count, digest, ..Subject::one("server", name) },
        )];
    }
    let unsaid = || "as the server".to_owned();
    let mut keys: Vec<&String> = before.keys().chain(now.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let moved = keys.into_iter().filter(|key| before.get(*key) != now.get(*key));
    let mut records: Vec<RecordDraft> = moved
        .map(|key| {
            let id = format!("{name} {}", shown(key, MAX_ID));
            let (from, to) = (before.get(key).cloned(), now.get(key).cloned());
            let changed = Subject::one("rule", id)
                .changed(from.unwrap_or_else(unsaid), to.unwrap_or_else(unsaid));
            record("server.rule", changed)
        })
        .collect();
    if let Some(more) = records.len().checked_sub(MAX_RECORDS).filter(|more| *more > 0) {
        records.truncate(MAX_RECORDS);
        let count = Some(more as u64);
        records.push(record("server.rule", Subject { count, ..Subject::one("server", name) }));
    }
    records
}

fn record(action: &str, subject: Subject) -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    let draft = RecordDraft::new(Phase::House, call, Actor::House, Transport::Local, action);
    RecordDraft { subject, ..draft }
}

/// What the server's own rule is called.
const EVERY: &str = "*";
/// Rules of a server that are kept one by one.
const MOST_RULES: usize = 2_000;
const MAX_RECORDS: usize = 32;
const MAX_ID: usize = 160;
