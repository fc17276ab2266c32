//! The kill switch, in scopes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{AgentId, Slug, SpaceId, Timestamp};

/// What a switch stops.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SwitchScope {
    /// Every call of every agent.
    Everything,
    /// Every call in one space.
    Space(SpaceId),
    /// Every call of one agent.
    Agent(AgentId),
    /// Every call that reaches one upstream server.
    Upstream(Slug),
}

impl fmt::Display for SwitchScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("everything"),
            Self::Space(id) => write!(f, "space:{id}"),
            Self::Agent(id) => write!(f, "agent:{id}"),
            Self::Upstream(name) => write!(f, "upstream:{name}"),
        }
    }
}

/// Not a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a scope is everything, space:<id>, agent:<id> or upstream:<name>")]
pub struct ParseScopeError;

impl FromStr for SwitchScope {
    type Err = ParseScopeError;
    fn from_str(text: &str) -> Result<Self, ParseScopeError> {
        match text.split_once(':') {
            None if text == "everything" => Ok(Self::Everything),
            Some(("space", id)) => id.parse().map(Self::Space).map_err(|_| ParseScopeError),
            Some(("agent", id)) => id.parse().map(Self::Agent).map_err(|_| ParseScopeError),
            Some(("upstream", name)) => {
                name.parse().map(Self::Upstream).map_err(|_| ParseScopeError)
            }
            _ => Err(ParseScopeError),
        }
    }
}

impl TryFrom<String> for SwitchScope {
    type Error = ParseScopeError;
    fn try_from(text: String) -> Result<Self, ParseScopeError> {
        text.parse()
    }
}

impl From<SwitchScope> for String {
    fn from(scope: SwitchScope) -> Self {
        scope.to_string()
    }
}

/// Who or what engaged a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngagedBy {
    /// The owner, by command or console.
    Owner,
    /// A signal to the process.
    Signal,
    /// The sentinel file.
    Sentinel,
    /// The agent itself.
    Agent,
    /// The house, because it could not read its own state.
    House,
}

/// A switch that is engaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engaged {
    /// What it stops.
    pub scope: SwitchScope,
    /// Who engaged it.
    pub by: EngagedBy,
    /// Why, in a line.
    pub note: String,
    /// When.
    pub at: Timestamp,
}

/// Where a call takes place, as far as a switch may concern it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose call.
    pub agent: AgentId,
    /// Into which spaces it reaches.
    pub reaches: Reaches,
    /// Through which upstream server.
    pub upstream: Option<Slug>,
}

/// The spaces a call reaches into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaches {
    /// Exactly this one.
    One(SpaceId),
    /// All but those it looks past, because they were stopped when it was decided on.
    AllBut(BTreeSet<SpaceId>),
}

impl Reaches {
    /// The one that is named. Where none is, it may be any, so whichever is stopped stops it.
    pub fn of(space: Option<SpaceId>) -> Self {
        space.map_or_else(|| Self::AllBut(BTreeSet::new()), Self::One)
    }

    /// All that are not stopped now: how a call across all spaces looks past those that are.
    pub fn across(switches: &Switches) -> Self {
        Self::AllBut(switches.spaces())
    }

    /// Whether it reaches into this one.
    pub fn covers(&self, space: SpaceId) -> bool {
        match self {
            Self::One(own) => *own == space,
            Self::AllBut(past) => !past.contains(&space),
        }
    }

    /// The spaces it looks past.
    pub fn past(&self) -> BTreeSet<SpaceId> {
        match self {
            Self::One(_) => BTreeSet::new(),
            Self::AllBut(past) => past.clone(),
        }
    }
}

/// The switches that are engaged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Switches(Vec<Engaged>);

impl Switches {
    /// These.
    pub fn new(engaged: impl IntoIterator<Item = Engaged>) -> Self {
        let mut switches = Self::default();
        for engaged in engaged {
            switches.engage(engaged);
        }
        switches
    }

    /// Engages one more. False if its scope was engaged already; the first note stays.
    pub fn engage(&mut self, engaged: Engaged) -> bool {
        let news = self.get(&engaged.scope).is_none();
        if news {
            self.0.push(engaged);
        }
        news
    }

    /// Lifts one. False if it was not engaged.
    pub fn lift(&mut self, scope: &SwitchScope) -> bool {
        let before = self.0.len();
        self.0.retain(|engaged| engaged.scope != *scope);
        self.0.len() < before
    }

    /// The one of this scope, if it is engaged.
    pub fn get(&self, scope: &SwitchScope) -> Option<&Engaged> {
        self.0.iter().find(|engaged| engaged.scope == *scope)
    }

    /// What stops a call at this place, if anything does.
    pub fn stops(&self, place: &Place) -> Option<&Engaged> {
        self.0.iter().find(|engaged| match &engaged.scope {
            SwitchScope::Everything => true,
            SwitchScope::Space(space) => place.reaches.covers(*space),
            SwitchScope::Agent(agent) => place.agent == *agent,
            SwitchScope::Upstream(name) => place.upstream.as_ref() == Some(name),
        })
    }

    /// The spaces that are stopped by a switch of their own.
    pub fn spaces(&self) -> BTreeSet<SpaceId> {
        let space = |engaged: &Engaged| match &engaged.scope {
            SwitchScope::Space(space) => Some(*space),
            SwitchScope::Everything | SwitchScope::Agent(_) | SwitchScope::Upstream(_) => None,
        };
        self.0.iter().filter_map(space).collect()
    }

    /// All of them.
    pub fn engaged(&self) -> &[Engaged] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Engaged, EngagedBy, Place, Reaches, SwitchScope, Switches};
    use crate::{AgentId, SpaceId, Timestamp};
    use uuid::Uuid;

    #[test]
    fn a_switch_stops_its_scope_and_nothing_else() {
        let agent = |n| AgentId::from_uuid(Uuid::from_u128(n));
        let space = |n| SpaceId::from_uuid(Uuid::from_u128(n));
        let name = |text: &str| text.parse().expect("a slug");
        let place = |a, s: Option<u128>, up: Option<&str>| Place {
            agent: agent(a),
            reaches: Reaches::of(s.map(space)),
            upstream: up.map(name),
        };
        let here = [
            place(1, Some(1), None),
            place(2, Some(1), Some("web")),
            place(3, None, Some("files")),
        ];
        for (scope, stopped) in [
            (SwitchScope::Everything, [true, true, true]),
            (SwitchScope::Space(space(1)), [true, true, true]),
            (SwitchScope::Agent(agent(1)), [true, false, false]),
            (SwitchScope::Upstream(name("web")), [false, true, false]),
            (SwitchScope::Upstream(name("we")), [false, false, false]),
        ] {
            let mut switches = Switches::new([engaged(scope.clone())]);
            let got = here.clone().map(|place| switches.stops(&place).is_some());
            assert_eq!(got, stopped, "{scope}");
            assert_eq!(scope.to_string().parse(), Ok(scope.clone()));
            assert!(!switches.engage(engaged(scope.clone())), "twice is once");
            assert!(switches.lift(&scope) && !switches.lift(&scope));
            assert!(here.iter().all(|place| switches.stops(place).is_none()));
        }
    }

    #[test]
    fn a_call_across_all_spaces_looks_past_those_that_are_stopped_and_ends_with_the_next() {
        let space = |n| SpaceId::from_uuid(Uuid::from_u128(n));
        let agent = AgentId::from_uuid(Uuid::from_u128(9));
        let mut switches = Switches::new([engaged(SwitchScope::Space(space(1)))]);
        let place = Place { agent, reaches: Reaches::across(&switches), upstream: None };
        assert!(!place.reaches.covers(space(1)) && place.reaches.covers(space(2)));
        assert!(switches.stops(&place).is_none());
        switches.engage(engaged(SwitchScope::Space(space(2))));
        assert!(switches.stops(&place).is_some(), "it may have looked there");
        let named = Place { reaches: Reaches::One(space(3)), ..place };
        assert!(switches.stops(&named).is_none());
    }

    fn engaged(scope: SwitchScope) -> Engaged {
        Engaged { scope, by: EngagedBy::Owner, note: String::new(), at: Timestamp::from_millis(0) }
    }
}
