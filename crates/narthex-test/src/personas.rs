//! Who knocks in tests: one of every kind.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use narthex_server::owner::{Reply, Request};

use crate::TestHouse;

/// Text that stands only in space A.
pub const CANARY_A: &str = "zebrafinch-canary-a";

/// Text that stands only in space B, and must never reach anyone bound to A.
pub const CANARY_B: &str = "quokka-canary-b";

/// Someone who knocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Persona {
    /// An agent in space A with read and suggest.
    AgentA,
    /// An agent in space B with read and suggest.
    AgentB,
    /// An agent in space A that may only read.
    Reader,
    /// An agent in space A that may only suggest new pages.
    Creator,
    /// An agent in space A whose ceiling is T0.
    Lowered,
    /// An agent in space A that was given nothing.
    Bare,
    /// An agent that is bound to no space.
    Unbound,
    /// An agent in space A that the owner switched off.
    Disabled,
    /// An agent in space A whose token was ended.
    Revoked,
    /// The owner, with the owner's token.
    Owner,
    /// Someone with a token that was never issued.
    Stranger,
    /// Someone without any credential.
    Nobody,
}

impl Persona {
    /// Everyone.
    pub const ALL: [Self; 12] = [
        Self::AgentA,
        Self::AgentB,
        Self::Reader,
        Self::Creator,
        Self::Lowered,
        Self::Bare,
        Self::Unbound,
        Self::Disabled,
        Self::Revoked,
        Self::Owner,
        Self::Stranger,
        Self::Nobody,
    ];

    /// The slug it is registered under, if it is an agent.
    pub const fn slug(self) -> Option<&'static str> {
        match self {
            Self::AgentA => Some("agent-a"),
            Self::AgentB => Some("agent-b"),
            Self::Reader => Some("reader"),
            Self::Creator => Some("creator"),
            Self::Lowered => Some("lowered"),
            Self::Bare => Some("bare"),
            Self::Unbound => Some("unbound"),
            Self::Disabled => Some("disabled"),
            Self::Revoked => Some("revoked"),
            Self::Owner | Self::Stranger | Self::Nobody => None,
        }
    }

    fn registration(self) -> Option<Request> {
        let slug = self.slug()?.to_owned();
        let space = match self {
            Self::AgentB => Some("b".to_owned()),
            Self::Unbound => None,
            _ => Some("a".to_owned()),
        };
        let grants = match self {
            Self::Reader => Some(vec!["read".to_owned()]),
            Self::Creator => Some(vec!["suggest:create:page".to_owned()]),
            Self::Bare => Some(Vec::new()),
            _ => None,
        };
        let ceiling = (self == Self::Lowered).then_some(narthex_core::Tier::T0);
        Some(Request::AgentAdd { slug, name: None, space, model: None, grants, ceiling })
    }
}

/// Registers everyone and fills both spaces; returns the tokens.
pub(crate) async fn settle(house: &TestHouse) -> anyhow::Result<BTreeMap<Persona, String>> {
    for slug in ["a", "b"] {
        house.owner(Request::SpaceAdd { slug: slug.into(), name: None }).await?;
    }
    for (space, slug, title, body) in [
        (
            "a",
            "home",
            "Home",
            format!("Welcome to A. {CANARY_A} See [[guides/setup]] and [[missing]]."),
        ),
        (
            "a",
            "guides/setup",
            "Setup",
            "How to set up the backup server. Back to [[home]].".to_owned(),
        ),
        ("b", "home", "Home", format!("Welcome to B. {CANARY_B} See [[plans]].")),
        ("b", "plans", "Plans", format!("Secret plans of B: {CANARY_B}.")),
    ] {
        let request = Request::PageAdd {
            space: space.into(),
            slug: Some(slug.into()),
            title: title.into(),
            body,
            tags: vec!["seed".into()],
        };
        house.owner(request).await?;
    }
    let mut tokens = BTreeMap::new();
    for persona in Persona::ALL {
        if let Some(token) = register(house, persona).await? {
            tokens.insert(persona, token);
        }
    }
    Ok(tokens)
}

async fn register(house: &TestHouse, persona: Persona) -> anyhow::Result<Option<String>> {
    match persona {
        Persona::Owner => return Ok(Some(house.owner_token())),
        Persona::Stranger => return Ok(Some(format!("nx_{}_{}", "0".repeat(32), "0".repeat(64)))),
        _ => {}
    }
    let Some(registration) = persona.registration() else { return Ok(None) };
    let slug = persona.slug().context("an agent has a slug")?.to_owned();
    house.owner(registration).await?;
    let create = Request::TokenCreate { agent: slug.clone(), label: None, expires_in: None };
    let Reply::TokenCreated(created) = house.owner(create).await? else { bail!("no token") };
    match persona {
        Persona::Disabled => {
            house.owner(Request::AgentDisable { agent: slug, disabled: true }).await?;
        }
        Persona::Revoked => {
            house.owner(Request::TokenRevoke { token: created.id.to_string() }).await?;
        }
        _ => {}
    }
    Ok(Some(created.token))
}
