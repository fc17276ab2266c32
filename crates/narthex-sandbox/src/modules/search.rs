//! Finding functions by words: in their names, what they do, and what they take.

use serde_json::Value;

use super::{Function, Module};

/// Words that are looked for.
#[derive(Debug)]
pub struct Query(Vec<String>);

impl Query {
    /// Reads what was asked; nothing means everything.
    pub fn parse(text: Option<&str>) -> Self {
        let text = text.unwrap_or_default().to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        Self(words.take(MAX_WORDS).map(str::to_owned).collect())
    }

    /// Whether everything is wanted.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// How well a function fits; 0 is not at all. Each word counts where it counts most.
    pub fn fits(&self, module: &Module, function: &Function) -> u32 {
        if self.is_everything() {
            return 1;
        }
        let spec = &function.spec;
        let names = format!("{} {}", spec.name, spec.title).to_lowercase();
        let module = format!("{} {}", module.name, module.about).to_lowercase();
        let says = spec.description.to_lowercase();
        let takes = parameters(&spec.input_schema).to_lowercase();
        let word = |word: &String| {
            [(&names, 4), (&takes, 2), (&says, 2), (&module, 1)]
                .into_iter()
                .find(|(text, _)| text.contains(word.as_str()))
                .map_or(0, |(_, weight)| weight)
        };
        self.0.iter().map(word).sum()
    }
}

/// The names and descriptions of what a function takes.
fn parameters(schema: &Value) -> String {
    let mut text = String::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        text.push_str(name);
        text.push(' ');
        text.push_str(property.get("description").and_then(Value::as_str).unwrap_or_default());
        text.push(' ');
    }
    text
}

const MAX_WORDS: usize = 16;
