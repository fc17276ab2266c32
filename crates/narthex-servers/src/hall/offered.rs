//! What a server offers on one connection, beside what the owner has approved of it.

use std::collections::BTreeMap;
use std::time::Duration;

use narthex_core::{DefinitionName, Digest, ServerStanding};
use narthex_gate::upstream::{
    Connection, Greeting, List, ListCaps, UpstreamFault, marks, whole_list,
};
use tokio::time::Instant;

use crate::pin::{Definition, Kind, Offer};
use crate::scan::{self, Code, Finding, Neighbours, Report, Severity};

/// Everything a server offers, looked at.
#[derive(Debug)]
pub struct Offered {
    /// What it said of itself.
    pub greeting: Greeting,
    /// What was found in it.
    pub report: Report,
    by_name: BTreeMap<DefinitionName, Item>,
}

/// One definition of it.
#[derive(Debug)]
pub struct Item {
    /// The definition.
    pub definition: Definition,
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// Why it cannot be approved, whatever its owner says.
    pub barred: Option<String>,
}

/// How a definition stands to what was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// This very definition was approved.
    Approved,
    /// Another one of its name was.
    Changed,
    /// Nobody approved one of its name.
    New,
}

impl Item {
    /// How it stands.
    pub fn stands(&self, name: &DefinitionName, standing: &ServerStanding) -> Stands {
        match standing.definitions.get(name) {
            Some(digest) if *digest == self.definition.digest => Stands::Approved,
            Some(_) => Stands::Changed,
            None => Stands::New,
        }
    }

    /// Whether it is kept back until its owner has seen why, and says yes to it by name.
    pub fn is_quarantined(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::High)
    }
}

impl Offered {
    /// Asks a server for all of it, within a limit. Half of it is none.
    pub(super) async fn ask(
        connection: &dyn Connection,
        neighbours: &Neighbours,
        limit: Duration,
    ) -> Result<Self, UpstreamFault> {
        let greeting = connection.greeting().clone();
        let mut offer = Offer::new();
        let until = Instant::now() + limit;
        let lists = [
            ("tools", List::Tools, Kind::Tool),
            ("resources", List::Resources, Kind::Resource),
            ("resources", List::Templates, Kind::ResourceTemplate),
            ("prompts", List::Prompts, Kind::Prompt),
        ];
        for (capability, list, kind) in lists {
            if !greeting.capabilities.contains_key(capability) {
                continue;
            }
            let deadline = until.saturating_duration_since(Instant::now());
            let caps = ListCaps { deadline, ..ListCaps::default() };
            let items = match whole_list(connection, list, &caps).await {
                // Who has resources need not have templates.
                Err(UpstreamFault::Refused { code: METHOD_NOT_FOUND, .. }) => continue,
                items => items?,
            };
            offer.add(kind, items.iter().map(|item| item.get()));
        }
        if let Ok(info) = Definition::server_info(&greeting.server_info) {
            offer.push(info);
        }
        if let Some(Ok(said)) = greeting.instructions.as_deref().map(Definition::instructions) {
            offer.push(said);
        }
        Ok(Self::of(greeting, &offer, neighbours))
    }

    fn of(greeting: Greeting, offer: &Offer, neighbours: &Neighbours) -> Self {
        let report = scan::definitions(offer, neighbours);
        let mut by_name: BTreeMap<DefinitionName, Item> = BTreeMap::new();
        for definition in &offer.definitions {
            let findings = report.of(&definition.key).to_vec();
            let barred = barred(definition, &findings);
            let item = Item { definition: definition.clone(), findings, barred };
            // Of two with one name nobody can say which is meant; both are barred by what was found.
            by_name.entry(definition.key.definition_name()).or_insert(item);
        }
        Self { greeting, report, by_name }
    }

    /// One definition.
    pub fn get(&self, name: &DefinitionName) -> Option<&Item> {
        self.by_name.get(name)
    }

    /// All of them, by name.
    pub fn items(&self) -> impl Iterator<Item = (&DefinitionName, &Item)> {
        self.by_name.iter()
    }

    /// What of the approved is no longer offered as it was: another digest, or none.
    pub(super) fn departs(
        &self,
        standing: &ServerStanding,
    ) -> Vec<(DefinitionName, Option<Digest>)> {
        let departed = |(name, approved): (&DefinitionName, &Digest)| {
            let now = self.get(name).map(|item| item.definition.digest);
            (now != Some(*approved)).then(|| (name.clone(), now))
        };
        standing.definitions.iter().filter_map(departed).collect()
    }

    /// What nobody approved.
    pub(super) fn news(&self, standing: &ServerStanding) -> Vec<(DefinitionName, Option<Digest>)> {
        self.items()
            .filter(|(name, item)| item.stands(name, standing) == Stands::New)
            .map(|(name, item)| (name.clone(), Some(item.definition.digest)))
            .collect()
    }
}

/// What no approval lets through: nobody can see what is approved, or nobody could hold to it.
fn barred(definition: &Definition, findings: &[Finding]) -> Option<String> {
    let bars = |finding: &&Finding| finding.severity == Severity::High && finding.code.bars();
    if let Some(finding) = findings.iter().find(bars) {
        return Some(finding.code.says().to_owned());
    }
    if definition.key.kind != Kind::Tool {
        return None;
    }
    let name = &definition.key.name;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.len() > MAX_NAME || !name.bytes().all(plain) {
        return Some(
            "clients can call no tool of this name: 1 to 128 of A-Z, a-z, 0-9, '_', '-' and '.'"
                .to_owned(),
        );
    }
    let schema = definition.value.get("inputSchema")?;
    marks(schema).err().map(|fault| fault.to_string())
}

impl Code {
    /// Whether what has it in it is never offered on, even if its owner would.
    pub const fn bars(self) -> bool {
        matches!(
            self,
            Self::Control
                | Self::Sequence
                | Self::ZeroWidth
                | Self::Bidi
                | Self::Tag
                | Self::Variation
                | Self::Private
                | Self::Doubled
                | Self::ParamHeader
                | Self::RefOutside
                | Self::SchemaBomb
                | Self::Unpinnable
        )
    }
}

/// Bytes of a tool's name.
const MAX_NAME: usize = 128;
const METHOD_NOT_FOUND: i64 = -32601;
