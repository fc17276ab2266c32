//! A tool as data.

use narthex_core::{Containment, Cost, Digest, EffectSite, Effects, Sends, Tier};
use serde_json::{Value, json};

/// What a client is told about what a tool does. Hints, said explicitly; the tier decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// Calling it twice is as good as once.
    pub idempotent: bool,
    /// It reaches beyond the house.
    pub open_world: bool,
}

/// A tool: everything that is listed, decided on and recorded.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What the model is told.
    pub description: String,
    /// JSON Schema (2020-12) of the arguments; always an object schema.
    pub input_schema: Value,
    /// JSON Schema of the structured answer.
    pub output_schema: Option<Value>,
    /// What a client is told.
    pub annotations: Annotations,
    /// How much it can change.
    pub tier: Tier,
    /// What it does.
    pub effects: Effects,
    /// Arguments that are taken out before anything looks at them (a space named by the
    /// client), as `name` or `outer/name`.
    pub ignored_arguments: &'static [&'static str],
    /// The argument that names what the call is done to, as a JSON pointer. A T3 tool has one.
    pub target: Option<String>,
    /// The most that one call of it costs, where that is known: it is put in reserve while the call is
    /// under way. What an answer says beyond it is charged all the same.
    pub cost: Option<Cost>,
}

impl ToolSpec {
    /// The least that any call of it weighs.
    pub const fn weight(&self) -> Weight {
        Weight { tier: self.tier, effects: self.effects }
    }

    /// The digest of everything that is listed and decided on. Change any of it and it is
    /// another tool.
    pub fn definition(&self) -> Digest {
        let mut said = json!({
            "v": "narthex tool v1",
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            "annotations": [
                self.annotations.read_only,
                self.annotations.destructive,
                self.annotations.idempotent,
                self.annotations.open_world,
            ],
            "tier": self.tier,
            "effects": self.effects,
            "target": self.target,
        });
        if let (Some(cost), Some(said)) = (self.cost, said.as_object_mut()) {
            said.insert("cost".to_owned(), json!(cost));
        }
        Digest::of_json(&said)
    }
}

/// How much a call can change, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// How much.
    pub tier: Tier,
    /// What.
    pub effects: Effects,
}

impl Weight {
    /// This, but in nothing less than another says.
    pub fn at_least(self, other: Self) -> Self {
        let contained = self.effects.containment == Containment::Contained
            && other.effects.containment == Containment::Contained;
        let containment = if contained { Containment::Contained } else { Containment::Direct };
        let inside = self.effects.sends == Sends::Inside && other.effects.sends == Sends::Inside;
        let sends = if inside { Sends::Inside } else { Sends::Outside };
        // What it reads and takes in, and where its effect lives, is the tool's to say; unless it
        // leaves that to the call.
        let site = match other.effects.site {
            EffectSite::ByCall => self.effects.site,
            said @ (EffectSite::Observe | EffectSite::Local | EffectSite::External) => said,
        };
        Self {
            tier: self.tier.max(other.tier),
            effects: Effects { containment, sends, site, ..other.effects },
        }
    }

    /// Whether a call can be made at all that weighs this: who only looks changes nothing, and who
    /// changes something does not only look.
    pub(crate) fn is_sound(self) -> bool {
        match self.effects.site {
            EffectSite::Observe => self.tier == Tier::T0,
            EffectSite::Local => self.tier != Tier::T0,
            EffectSite::External => true,
            EffectSite::ByCall => false,
        }
    }

    /// The same for an agent for which the owner gave the tool this tier instead of the one it
    /// declares. What only looks stays T0, what changes something never becomes it, and what this very
    /// call weighs beyond what its tool declares still counts.
    #[must_use]
    pub(crate) fn given(self, declared: Tier, owner: Option<Tier>) -> Self {
        let Some(owner) = owner.filter(|_| self.effects.site != EffectSite::Observe) else {
            return self;
        };
        let changes = self.effects.site == EffectSite::Local || declared > Tier::T0;
        let least = if changes { owner.max(Tier::T1) } else { owner };
        let tier = if self.tier > declared { self.tier.max(least) } else { least };
        Self { tier, ..self }
    }

    /// Whether a decision on this covers another.
    pub fn covers(self, other: Self) -> bool {
        self.at_least(other) == self
    }
}

/// Something that can be read by an address: the answer of one of the surface's own tools, so that
/// it is decided on, recorded and masked like any call of it.
#[derive(Debug, Clone)]
pub struct ResourceSpec {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What the model is told.
    pub description: String,
    /// What kind of text it is.
    pub mime: &'static str,
    /// The tool; it observes.
    pub tool: &'static str,
    /// What the tool is called with.
    pub arguments: Value,
    /// Where in the tool's answer the text is, as a JSON pointer; all of it, as JSON, if nowhere.
    pub text: Option<&'static str>,
}

/// What a client is told when it connects.
#[derive(Debug, Clone)]
pub struct SurfaceInfo {
    /// What people call the surface.
    pub title: String,
    /// How to use it, in a few lines for the model.
    pub instructions: String,
}

#[cfg(test)]
mod tests {
    use super::Weight;
    use narthex_core::{Containment, EffectSite, Effects, Reads, Sends, TakesIn, Tier};

    #[test]
    fn the_owners_tier_stands_for_the_declared_one_and_never_for_what_a_call_adds() {
        use EffectSite::{External, Local, Observe};
        use Tier::{T0, T1, T2, T3};
        for (site, declared, weighs, owner, expected) in [
            (External, T2, T2, None, T2),
            (External, T2, T2, Some(T1), T1),
            (External, T1, T1, Some(T3), T3),
            (External, T0, T0, Some(T2), T2),
            // Content raised it.
            (External, T1, T2, Some(T1), T2),
            (External, T1, T3, Some(T2), T3),
            (External, T1, T2, Some(T3), T3),
            // What changes something is not made a look, and a look stays one.
            (External, T2, T2, Some(T0), T1),
            (Local, T1, T1, Some(T0), T1),
            (Local, T0, T2, Some(T1), T2),
            (Observe, T0, T0, Some(T3), T0),
        ] {
            let effects = Effects {
                reads: Reads::Nothing,
                takes_in: TakesIn::Owned,
                sends: Sends::Inside,
                containment: Containment::Direct,
                site,
            };
            let given = Weight { tier: weighs, effects }.given(declared, owner);
            assert_eq!(given, Weight { tier: expected, effects }, "{site:?} {declared} {owner:?}");
            assert!(given.is_sound());
        }
    }
}
