//! Everything a server offers at one time, held to bounds before anyone looks at it.

use super::definition::{Definition, DefinitionFault, Kind};

/// What a server offers.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// What can be pinned.
    pub definitions: Vec<Definition>,
    /// And what cannot: nothing of it is offered on.
    pub refused: Vec<Refused>,
    bytes: usize,
    count: usize,
}

/// Something that cannot be pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What it would define.
    pub kind: Kind,
    /// The how manieth of its kind, from 0.
    pub index: usize,
    /// Why not.
    pub fault: DefinitionFault,
}

impl Offer {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The definitions of one kind, in the server's own JSON. Past the bounds nothing is read any
    /// more, and that is told once.
    pub fn add<'a>(&mut self, kind: Kind, raw: impl IntoIterator<Item = &'a str>) {
        for (index, raw) in raw.into_iter().enumerate() {
            self.count += 1;
            self.bytes = self.bytes.saturating_add(raw.len());
            let within = if self.count > MAX_DEFINITIONS {
                Err(DefinitionFault::TooMany(MAX_DEFINITIONS))
            } else if self.bytes > MAX_BYTES {
                Err(DefinitionFault::TooMuch(MAX_BYTES))
            } else {
                Ok(())
            };
            let past = within.is_err();
            match within.and_then(|()| Definition::read(kind, raw)) {
                Ok(definition) => self.definitions.push(definition),
                Err(fault) => self.refused.push(Refused { kind, index, fault }),
            }
            if past {
                return;
            }
        }
    }

    /// One more, read already.
    pub fn push(&mut self, definition: Definition) {
        self.count += 1;
        self.definitions.push(definition);
    }
}

/// Definitions of one server.
const MAX_DEFINITIONS: usize = 2_000;
/// And their bytes together.
const MAX_BYTES: usize = 2 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::{DefinitionFault, Kind, Offer};

    #[test]
    fn a_flood_is_cut_off() {
        let many: Vec<String> = (0..10_000).map(|n| format!("{{\"name\":\"t{n}\"}}")).collect();
        let mut offer = Offer::new();
        offer.add(Kind::Tool, many.iter().map(String::as_str));
        assert_eq!(offer.definitions.len(), 2_000);
        assert_eq!(offer.refused.len(), 1);
        assert_eq!(offer.refused[0].fault, DefinitionFault::TooMany(2_000));
        // And other lists do not start anew.
        offer.add(Kind::Prompt, ["{\"name\":\"p\"}"]);
        assert_eq!(offer.definitions.len(), 2_000);

        let long = "x".repeat(200_000);
        let large: Vec<String> =
            (0..40).map(|n| format!("{{\"name\":\"t{n}\",\"description\":\"{long}\"}}")).collect();
        let mut offer = Offer::new();
        offer.add(Kind::Tool, large.iter().map(String::as_str));
        assert_eq!(offer.definitions.len(), 10);
        assert!(matches!(offer.refused[0].fault, DefinitionFault::TooMuch(_)));
    }

    #[test]
    fn one_that_cannot_be_taken_takes_no_other_with_it() {
        let mut offer = Offer::new();
        offer.add(Kind::Tool, ["{\"name\":\"a\"}", "{}", "{\"name\":\"b\"}"]);
        assert_eq!(offer.definitions.len(), 2);
        assert_eq!((offer.refused[0].index, offer.refused.len()), (1, 1));
    }
}
