//! What an agent was given: capabilities, narrowed where the owner wishes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{EntityType, PolicyAction};

/// What an agent may be given. None of them means apply: only an owner applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// Search, read and look around.
    Read,
    /// Propose a change.
    Suggest,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Self; 2] = [Self::Read, Self::Suggest];

    /// The word in config, policy and output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Suggest => "suggest",
        }
    }

    /// Whether whoever has only such capabilities looks and asks, and changes nothing that is
    /// protected, however far the owner lets it go.
    pub const fn only_suggests(self) -> bool {
        match self {
            Self::Read | Self::Suggest => true,
        }
    }

    /// The actions this capability can be narrowed to.
    pub fn actions(self) -> impl Iterator<Item = PolicyAction> {
        PolicyAction::ALL.into_iter().filter(move |action| action.capability() == self)
    }
}

/// One grant: a capability, or one action of it, or one action on one entity type.
///
/// Written `suggest`, `suggest:update`, `suggest:update:page` or `suggest:*:page`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Grant {
    capability: Capability,
    action: Option<PolicyAction>,
    entity_type: Option<EntityType>,
}

impl Grant {
    /// The whole capability.
    pub const fn whole(capability: Capability) -> Self {
        Self { capability, action: None, entity_type: None }
    }

    /// The capability.
    pub const fn capability(&self) -> Capability {
        self.capability
    }

    /// Every (capability, action, entity type) this grant covers.
    pub fn expand(&self) -> Vec<(Capability, PolicyAction, EntityType)> {
        let actions: Vec<PolicyAction> =
            self.action.map_or_else(|| self.capability.actions().collect(), |only| vec![only]);
        let types = self.entity_type.map_or_else(|| EntityType::ALL.to_vec(), |only| vec![only]);
        actions
            .into_iter()
            .flat_map(|action| types.iter().map(move |entity| (action, *entity)))
            .map(|(action, entity)| (self.capability, action, entity))
            .collect()
    }
}

/// Not a grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a grant is read or suggest, narrowed as capability:action:entity_type (for instance suggest:update:page or read:*:page); got {0:?}"
)]
pub struct ParseGrantError(String);

impl FromStr for Grant {
    type Err = ParseGrantError;

    fn from_str(text: &str) -> Result<Self, ParseGrantError> {
        let bad = || ParseGrantError(text.chars().take(80).collect());
        let mut parts = text.split(':');
        let capability = parts
            .next()
            .and_then(|word| Capability::ALL.into_iter().find(|c| c.as_str() == word))
            .ok_or_else(bad)?;
        let action = match parts.next() {
            None | Some("*") => None,
            Some(word) => Some(capability.actions().find(|a| a.as_str() == word).ok_or_else(bad)?),
        };
        let entity_type = match parts.next() {
            None | Some("*") => None,
            Some(word) => Some(word.parse().map_err(|_| bad())?),
        };
        if parts.next().is_some() {
            return Err(bad());
        }
        Ok(Self { capability, action, entity_type })
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.capability.as_str())?;
        match (self.action, self.entity_type) {
            (None, None) => Ok(()),
            (Some(action), None) => write!(f, ":{}", action.as_str()),
            (action, Some(entity)) => {
                write!(f, ":{}:{}", action.map_or("*", PolicyAction::as_str), entity.as_str())
            }
        }
    }
}

impl TryFrom<String> for Grant {
    type Error = ParseGrantError;
    fn try_from(text: String) -> Result<Self, ParseGrantError> {
        text.parse()
    }
}

impl From<Grant> for String {
    fn from(grant: Grant) -> Self {
        grant.to_string()
    }
}

/// All an agent was given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(BTreeSet<Grant>);

impl Grants {
    /// What `agent add` gives when nothing else is said: read and suggest.
    pub fn standard() -> Self {
        Capability::ALL.into_iter().map(Grant::whole).collect()
    }

    /// Each grant.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.0.iter()
    }

    /// The capabilities that appear at all.
    pub fn capabilities(&self) -> BTreeSet<Capability> {
        self.0.iter().map(Grant::capability).collect()
    }

    /// Whether there is nothing beyond reading and suggesting.
    pub fn only_suggest(&self) -> bool {
        self.0.iter().all(|grant| grant.capability().only_suggests())
    }

    /// Every (capability, action, entity type) covered.
    pub fn expand(&self) -> BTreeSet<(Capability, PolicyAction, EntityType)> {
        self.0.iter().flat_map(Grant::expand).collect()
    }
}

impl FromIterator<Grant> for Grants {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        Self(grants.into_iter().collect())
    }
}

impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, grant) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str(" ")?;
            }
            grant.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Grant;

    #[test]
    fn grants_read_and_print_the_same_way_and_nothing_means_apply() {
        for good in ["read", "suggest", "suggest:create", "suggest:update:page", "read:*:page"] {
            assert_eq!(good.parse::<Grant>().map(|g| g.to_string()).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "apply",
            "write",
            "suggest:apply",
            "suggest:create:space",
            "suggest:create:page:x",
            "READ",
            "read ",
            "*",
            "admin",
        ] {
            assert!(bad.parse::<Grant>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn narrowing_only_ever_takes_away() {
        let whole = "suggest".parse::<Grant>().map(|g| g.expand()).unwrap_or_default();
        for narrow in ["suggest:create", "suggest:*:page", "suggest:delete:page"] {
            let narrowed = narrow.parse::<Grant>().map(|g| g.expand()).unwrap_or_default();
            assert!(
                !narrowed.is_empty() && narrowed.iter().all(|one| whole.contains(one)),
                "{narrow}"
            );
        }
    }
}
