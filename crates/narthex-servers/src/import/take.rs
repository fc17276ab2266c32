//! One server, taken over key by key.

use std::path::Path;

use serde_json::{Map, Value};
use url::Url;

use crate::config::{EDITORS, as_variable};
use crate::located::{Kind, Node};
use crate::secret_look::{name_tells, shape_tells};
use crate::text::shown;

use super::plan::Export;
use super::secrets::{InArgument, Variables, in_argument, is_harmless};

/// What is taken of a server, before it is held to the rules of the file.
pub(super) struct Taking<'a> {
    pub(super) server: &'a str,
    pub(super) home: Option<&'a Path>,
    pub(super) project: Option<&'a Path>,
    pub(super) variables: &'a mut Variables,
    pub(super) notes: Vec<String>,
    pub(super) exports: Vec<Export>,
}

/// Why nothing of a server is taken.
pub(super) type Why = String;

impl Taking<'_> {
    pub(super) fn server(&mut self, node: &Node) -> Result<Map<String, Value>, Why> {
        let Kind::Object(entries) = &node.kind else {
            return Err("it is not an object".to_owned());
        };
        let mut out = Map::new();
        for (key, node) in entries {
            let key = key.name.as_str();
            if let Some(value) = self.entry(key, node)? {
                out.insert(key.to_owned(), value);
            }
        }
        self.stand_in_project(&mut out);
        Ok(out)
    }

    fn entry(&mut self, key: &str, node: &Node) -> Result<Option<Value>, Why> {
        Ok(match key {
            "command" | "cwd" | "type" => Some(self.plain(node)?),
            "args" => Some(self.args(node)?),
            "env" | "headers" => Some(self.named(key, node)?),
            "url" => Some(self.url(node)?),
            "disabled" => Some(node.to_value()),
            "autoApprove" | "alwaysAllow" | "trust" => {
                self.note(format!("`{key}` is not taken: nothing is approved by a file here"));
                None
            }
            other => {
                self.note(format!("`{}` is not taken: it means nothing here", shown(other, 60)));
                None
            }
        })
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn plain(&mut self, node: &Node) -> Result<Value, Why> {
        let text = node.as_text().ok_or("a command, a folder or a type that is not text")?;
        self.translate(text).map(Value::from)
    }

    fn args(&mut self, node: &Node) -> Result<Value, Why> {
        let Kind::List(items) = &node.kind else { return Err("`args` is not a list".to_owned()) };
        let mut args = Vec::new();
        let mut awaited: Option<String> = None;
        for item in items {
            let text = item.as_text().ok_or("an argument that is not text")?;
            let text = self.translate(text)?;
            let named = awaited.take().filter(|_| !text.starts_with('-') && !text.contains("${"));
            let made = match (named, in_argument(&text)) {
                (Some(name), _) => self.withhold(&name, &text, "an argument"),
                (None, InArgument::Nothing) => text,
                (None, InArgument::Whole(value)) => self.withhold("SECRET", value, "an argument"),
                (None, InArgument::After { name, value }) => {
                    let stand_in = self.withhold(name, value, "an argument");
                    format!("{}{stand_in}", text.strip_suffix(value).unwrap_or_default())
                }
                (None, InArgument::Next(name)) => {
                    awaited = Some(name.to_owned());
                    text
                }
            };
            args.push(Value::from(made));
        }
        Ok(Value::from(args))
    }

    fn named(&mut self, what: &str, node: &Node) -> Result<Value, Why> {
        let Kind::Object(entries) = &node.kind else {
            return Err(format!("`{what}` is no object"));
        };
        let mut out = Map::new();
        for (key, value) in entries {
            let name = key.name.as_str();
            let text = match &value.kind {
                Kind::Text(text) | Kind::Number(text) => text.clone(),
                Kind::Bool(yes) => yes.to_string(),
                Kind::Null => continue,
                _ => return Err(format!("a value in `{what}` that is not text")),
            };
            let text = self.translate(&text)?;
            let kept = if is_harmless(name, &text) {
                text
            } else {
                self.withhold_value(name, &text, what)
            };
            out.insert(name.to_owned(), Value::from(kept));
        }
        Ok(Value::Object(out))
    }

    /// Keeps the word before a token (`Bearer`), which is no secret.
    fn withhold_value(&mut self, name: &str, text: &str, what: &str) -> String {
        let place = if what == "env" { "a variable" } else { "a header" };
        match text.split_once(' ') {
            Some((scheme @ ("Bearer" | "bearer" | "Basic" | "Token" | "token"), token)) => {
                format!("{scheme} {}", self.withhold(name, token, place))
            }
            _ => self.withhold(name, text, place),
        }
    }

    fn withhold(&mut self, name: &str, value: &str, place: &str) -> String {
        let variable = self.variables.stand_in(self.server, name, value);
        self.export(&variable, format!("the value of {} ({place})", shown(name, 60)));
        format!("${{{variable}}}")
    }

    fn export(&mut self, variable: &str, what: String) {
        let export = Export { variable: variable.to_owned(), what };
        if !self.exports.contains(&export) {
            self.exports.push(export);
        }
    }

    fn url(&mut self, node: &Node) -> Result<Value, Why> {
        let text = self.translate(node.as_text().ok_or("a URL that is not text")?)?;
        if text.contains("${") {
            return Ok(Value::from(text));
        }
        let url = Url::parse(&text).map_err(|_| "its URL cannot be read")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("its URL holds a user or a password; write it as a header".to_owned());
        }
        let (before, query) = match text.split_once('?') {
            Some((before, query)) => (before, Some(query)),
            None => (text.as_str(), None),
        };
        let mut out: Vec<String> = Vec::new();
        for (n, part) in before.split('/').enumerate() {
            // The first three are the scheme and the host.
            let secret = n > 2 && shape_tells(part);
            out.push(if secret {
                self.withhold("URL_KEY", part, "a URL")
            } else {
                part.to_owned()
            });
        }
        let mut made = out.join("/");
        for (n, field) in query.iter().flat_map(|query| query.split('&')).enumerate() {
            made.push(if n == 0 { '?' } else { '&' });
            match field.split_once('=') {
                Some((name, value))
                    if !value.is_empty() && (name_tells(name) || shape_tells(value)) =>
                {
                    let stand_in = self.withhold(name, value, "a URL");
                    made.push_str(name);
                    made.push('=');
                    made.push_str(&stand_in);
                }
                _ => made.push_str(field),
            }
        }
        Ok(Value::from(made))
    }

    /// What other clients write in `${…}`, as it is written here.
    fn translate(&mut self, text: &str) -> Result<String, Why> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once("${") {
            out.push_str(before);
            let Some((inner, after)) = from.split_once('}') else {
                return Err("`${` without `}` in one of its values".to_owned());
            };
            out.push_str(&self.substitution(inner)?);
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn substitution(&mut self, inner: &str) -> Result<String, Why> {
        if let Some(id) = inner.strip_prefix("input:") {
            let wanted = as_variable(id);
            // An editor asks for it: what it is, is not in any file.
            let variable = self.variables.stand_in(self.server, &wanted, &format!("input:{id}"));
            self.export(&variable, format!("what the editor asks for as {}", shown(id, 60)));
            return Ok(format!("${{{variable}}}"));
        }
        let folder = |path: Option<&Path>| path.map(|path| path.display().to_string());
        let known = match inner {
            "userHome" | "HOME" => folder(self.home),
            "workspaceFolder" | "workspaceRoot" => folder(self.project),
            "pathSeparator" | "/" => Some("/".to_owned()),
            _ => None,
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let name = inner.strip_prefix("env:").unwrap_or(inner);
        if EDITORS.contains(&name) || name.contains(':') && !name.contains(":-") {
            return Err(format!("`${{{}}}` is known only to an editor", shown(inner, 60)));
        }
        Ok(format!("${{{name}}}"))
    }

    /// A project's server is started in the project.
    fn stand_in_project(&mut self, out: &mut Map<String, Value>) {
        let Some(project) = self.project.filter(|project| project.is_absolute()) else { return };
        if out.contains_key("command") && !out.contains_key("cwd") {
            let folder = project.display().to_string();
            self.note("it is started in the project it came from".to_owned());
            out.insert("cwd".to_owned(), Value::from(folder));
        }
    }
}
