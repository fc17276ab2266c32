//! The four tools: what each takes, what it answers, and how it is carried out. One a file.

pub(crate) mod context;
pub(crate) mod propose_change;
pub(crate) mod read;
pub(crate) mod search;

use narthex_core::{Containment, EffectSite, Effects, PolicyAction, Reads, Sends, TakesIn, Tier};
use narthex_gate::{Annotations, ToolSpec, input_schema, output_schema};
use schemars::JsonSchema;

pub(crate) use narthex_gate::{read_arguments as arguments, write_answer as answer};

/// What a tool declares about itself, apart from its schemas.
pub(crate) struct Declared {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// What policy is asked, over all arguments it may get.
    pub(crate) actions: &'static [PolicyAction],
    pub(crate) does: Does,
}

/// The two kinds of thing these tools do.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    Look,
    Propose,
}

impl Does {
    const fn tier(self) -> Tier {
        match self {
            Self::Look => Tier::T0,
            Self::Propose => Tier::T1,
        }
    }

    const fn effects(self) -> Effects {
        match self {
            Self::Look => Effects {
                reads: Reads::Private,
                takes_in: TakesIn::ByAnswer,
                sends: Sends::Inside,
                containment: Containment::Contained,
                site: EffectSite::Observe,
            },
            Self::Propose => Effects {
                reads: Reads::Private,
                takes_in: TakesIn::Owned,
                sends: Sends::Inside,
                containment: Containment::Contained,
                site: EffectSite::Local,
            },
        }
    }

    const fn annotations(self) -> Annotations {
        match self {
            Self::Look => Annotations {
                read_only: true,
                destructive: false,
                idempotent: true,
                open_world: false,
            },
            Self::Propose => Annotations {
                read_only: false,
                destructive: false,
                idempotent: false,
                open_world: false,
            },
        }
    }
}

/// A tool as data, its schemas made from the types that read and write it.
pub(crate) fn spec<Input: JsonSchema, Output: JsonSchema>(
    declared: &Declared,
    ignored: &'static [&'static str],
) -> ToolSpec {
    ToolSpec {
        name: declared.name.to_owned(),
        title: declared.title.to_owned(),
        description: declared.description.to_owned(),
        input_schema: input_schema::<Input>(),
        output_schema: Some(output_schema::<Output>()),
        annotations: declared.does.annotations(),
        tier: declared.does.tier(),
        effects: declared.does.effects(),
        ignored_arguments: ignored,
        cost: None,
        target: None,
    }
}
