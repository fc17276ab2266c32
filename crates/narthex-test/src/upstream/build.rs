//! Scripts in a few words.

use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value, json};

use super::{Offer, Script, Speaks, Step, Turn, When};

impl Script {
    /// A server that offers nothing, in both eras.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, speaking only this.
    pub fn speaking(mut self, era: Speaks) -> Self {
        self.era = era;
        self
    }

    /// With a tool that is defined plainly and does this.
    pub fn tool(self, name: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.defined(definition(name), steps)
    }

    /// With a tool that is defined like this and does that.
    pub fn defined(mut self, definition: Value, steps: impl Into<Vec<Step>>) -> Self {
        let key = format!("tools/call {}", text(&definition, "name"));
        self.acts.insert(key, steps.into());
        self.offer.tools.get_or_insert_default().push(definition);
        self
    }

    /// With a resource, and what is done when it is read.
    pub fn resource(mut self, definition: Value, steps: impl Into<Vec<Step>>) -> Self {
        let key = format!("resources/read {}", text(&definition, "uri"));
        self.acts.insert(key, steps.into());
        self.offer.resources.get_or_insert_default().push(definition);
        self
    }

    /// With a template of resources.
    pub fn template(mut self, definition: Value) -> Self {
        self.offer.templates.get_or_insert_default().push(definition);
        self
    }

    /// With a prompt, and what is done when it is got.
    pub fn prompt(mut self, definition: Value, steps: impl Into<Vec<Step>>) -> Self {
        let key = format!("prompts/get {}", text(&definition, "name"));
        self.acts.insert(key, steps.into());
        self.offer.prompts.get_or_insert_default().push(definition);
        self
    }

    /// Doing this whenever such a message comes: `"tools/list"`, `"tools/call x"`, `"initialize"`.
    pub fn on(mut self, what: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.acts.insert(what.to_owned(), steps.into());
        self
    }

    /// Doing this before anything is read.
    pub fn at_start(mut self, steps: impl Into<Vec<Step>>) -> Self {
        self.start = steps.into();
        self
    }

    /// Saying this to models.
    pub fn instructions(mut self, text: &str) -> Self {
        self.offer.instructions = Some(text.to_owned());
        self
    }

    /// Offering something else from then on, with `list_changed`.
    pub fn turning(mut self, when: When, offer: Offer) -> Self {
        self.turns.push(Turn { when, offer, announce: true });
        self
    }

    /// Offering something else from then on, and not a word about it.
    pub fn turning_silently(mut self, when: When, offer: Offer) -> Self {
        self.turns.push(Turn { when, offer, announce: false });
        self
    }

    /// Writing down every message that comes.
    pub fn logging(mut self, path: &Path) -> Self {
        self.log = Some(path.to_owned());
        self
    }

    /// The script as the program reads it.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The arguments of the program, for pipes, with the script in a file: an argument cannot be larger
    /// than 128 KiB.
    pub fn args_in(&self, file: &Path) -> anyhow::Result<Vec<String>> {
        std::fs::write(file, self.json()).with_context(|| file.display().to_string())?;
        Ok(vec!["stdio".to_owned(), file.display().to_string()])
    }

    /// The arguments of the program, for pipes.
    pub fn args(&self) -> Vec<String> {
        vec!["stdio".to_owned(), self.json()]
    }
}

impl Offer {
    /// These tools instead of those.
    pub fn tools(definitions: impl Into<Vec<Value>>) -> Self {
        Self { tools: Some(definitions.into()), ..Self::default() }
    }
}

impl Step {
    /// Answers with one text.
    pub fn text(text: &str) -> Self {
        Self::Answer(json!({"content": [{"type": "text", "text": text}]}))
    }

    /// Answers with these blocks.
    pub fn blocks(blocks: impl Into<Vec<Value>>) -> Self {
        Self::Answer(json!({"content": blocks.into()}))
    }

    /// Asks the client for a completion by its model.
    pub fn sampling() -> Self {
        let message = json!({"role": "user", "content": {"type": "text", "text": "Say it."}});
        Self::ask("sampling/createMessage", json!({"messages": [message], "maxTokens": 10}))
    }

    /// Asks the client for its folders.
    pub fn roots() -> Self {
        Self::ask("roots/list", json!({}))
    }

    /// Asks the person for a password.
    pub fn password() -> Self {
        Self::ask("elicitation/create", password_form())
    }

    /// Asks the person to open this.
    pub fn visit(url: &str) -> Self {
        let params = json!({"mode": "url", "message": "Open this.", "url": url,
            "elicitationId": "e1"});
        Self::ask("elicitation/create", params)
    }

    /// Asks the client this.
    pub fn ask(method: &str, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        Self::Ask { method: method.to_owned(), params }
    }

    /// In the newer revision, asks the person for a password.
    pub fn need_password() -> Self {
        Self::NeedInput(json!({"ask": {"method": "elicitation/create", "params": password_form()}}))
    }

    /// A notification, so many times.
    pub fn notify(method: &str, times: u64) -> Self {
        Self::Notify { method: method.to_owned(), params: Map::new(), times }
    }

    /// Refuses with a code.
    pub fn refuse(code: i64, message: &str) -> Self {
        Self::Refuse { code, message: message.to_owned(), data: None }
    }

    /// Over HTTP, sends the client elsewhere.
    pub fn redirect(code: u16, to: &str) -> Self {
        let headers = vec![("location".to_owned(), to.to_owned())];
        Self::Status { code, headers, body: String::new() }
    }
}

/// A plain definition of a tool that takes anything.
pub fn definition(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

fn password_form() -> Value {
    json!({"mode": "form", "message": "Type your password.", "requestedSchema": {
        "type": "object", "properties": {"password": {"type": "string", "title": "Password"}},
        "required": ["password"]}})
}

fn text<'a>(definition: &'a Value, key: &str) -> &'a str {
    definition.get(key).and_then(Value::as_str).unwrap_or_default()
}
