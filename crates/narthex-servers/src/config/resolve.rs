//! Puts values in place of substitutions, when a server is about to start.

use std::collections::BTreeSet;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::text::shown;

use super::auth::{Auth, OAuth};
use super::error::ConfigFault;
use super::fields::Outcome;
use super::reach::{Http, Process, Reach};
use super::server::ServerConfig;
use super::written::{Part, Written};

/// Where values come from: the environment and files, as the program at the edge reads them.
pub trait Lookup {
    /// A variable, if it is set.
    fn variable(&self, name: &str) -> Option<SecretString>;

    /// What is in a file. The reason is for the owner and says nothing of what is in it.
    fn file(&self, path: &str) -> Result<SecretString, String>;
}

/// A server with everything in place. No `Debug` of it shows a value.
#[derive(Debug, Clone)]
pub enum Resolved {
    /// A process.
    Process {
        /// What it is given.
        args: Vec<SecretString>,
        /// Its variables.
        env: Vec<(String, SecretString)>,
    },
    /// A server at a URL.
    Http {
        /// Where.
        url: SecretString,
        /// Scheme, host and port of it, which are no secret.
        origin: String,
        /// What is sent along.
        headers: Vec<(String, SecretString)>,
        /// How we prove who we are.
        auth: Option<ResolvedAuth>,
    },
}

/// How we prove who we are, with everything in place.
#[derive(Debug, Clone)]
pub enum ResolvedAuth {
    /// With a token that stands.
    Bearer(SecretString),
    /// With one that is asked for.
    OAuth {
        /// Who we are.
        client_id: Option<SecretString>,
        /// And how we prove it.
        client_secret: Option<SecretString>,
        /// The rest of it.
        settings: Box<OAuth>,
    },
}

impl ServerConfig {
    /// Puts everything in place, or says which variable or file is missing.
    pub fn resolve(&self, lookup: &dyn Lookup) -> Outcome<Resolved> {
        match &self.reach {
            Reach::Process(process) => process.resolve(lookup),
            Reach::Http(http) => http.resolve(lookup),
        }
    }

    /// The variables it needs from the environment.
    pub fn variables(&self) -> BTreeSet<&str> {
        self.written().into_iter().flat_map(Written::parts).filter_map(variable).collect()
    }

    /// The names of what it is given that is not in the file: variables and headers.
    pub fn confided(&self) -> BTreeSet<&str> {
        let entries = match &self.reach {
            Reach::Process(process) => &process.env,
            Reach::Http(http) => &http.headers,
        };
        let kept = entries.iter().filter(|(_, written)| !written.is_literal());
        kept.map(|(name, _)| name.as_str()).collect()
    }

    fn written(&self) -> Vec<&Written> {
        match &self.reach {
            Reach::Process(process) => {
                process.args.iter().chain(process.env.iter().map(|(_, value)| value)).collect()
            }
            Reach::Http(http) => {
                let mut all = vec![&http.url];
                all.extend(http.headers.iter().map(|(_, value)| value));
                match &http.auth {
                    Some(Auth::Bearer(token)) => all.push(token),
                    Some(Auth::OAuth(oauth)) => {
                        all.extend(oauth.client_id.iter().chain(&oauth.client_secret));
                    }
                    None => {}
                }
                all
            }
        }
    }
}

fn variable(part: &Part) -> Option<&str> {
    match part {
        Part::Variable { name, .. } => Some(name),
        Part::Literal(_) | Part::File(_) => None,
    }
}

impl Process {
    fn resolve(&self, lookup: &dyn Lookup) -> Outcome<Resolved> {
        let args = self.args.iter().map(|arg| arg.resolve(lookup, Stands::InProcess));
        let args = args.collect::<Outcome<_>>()?;
        let env = named(&self.env, lookup, Stands::InProcess)?;
        Ok(Resolved::Process { args, env })
    }
}

impl Http {
    fn resolve(&self, lookup: &dyn Lookup) -> Outcome<Resolved> {
        let text = self.url.resolve(lookup, Stands::InHeader)?;
        let url = checked_url(text.expose_secret()).map_err(|fault| self.url.error(fault))?;
        let headers = named(&self.headers, lookup, Stands::InHeader)?;
        let auth = self.auth.as_ref().map(|auth| auth.resolve(lookup)).transpose()?;
        let origin = url.origin().ascii_serialization();
        Ok(Resolved::Http { url: String::from(url).into(), origin, headers, auth })
    }
}

impl Auth {
    fn resolve(&self, lookup: &dyn Lookup) -> Outcome<ResolvedAuth> {
        let value = |written: &Written| written.resolve(lookup, Stands::InHeader);
        Ok(match self {
            Self::Bearer(token) => ResolvedAuth::Bearer(value(token)?),
            Self::OAuth(oauth) => ResolvedAuth::OAuth {
                client_id: oauth.client_id.as_ref().map(value).transpose()?,
                client_secret: oauth.client_secret.as_ref().map(value).transpose()?,
                settings: oauth.clone(),
            },
        })
    }
}

fn named(
    entries: &[(String, Written)],
    lookup: &dyn Lookup,
    stands: Stands,
) -> Outcome<Vec<(String, SecretString)>> {
    let value =
        |(name, written): &(String, Written)| Ok((name.clone(), written.resolve(lookup, stands)?));
    entries.iter().map(value).collect()
}

/// Where a value is put.
#[derive(Debug, Clone, Copy)]
enum Stands {
    InProcess,
    InHeader,
}

impl Written {
    fn resolve(&self, lookup: &dyn Lookup, stands: Stands) -> Outcome<SecretString> {
        let mut out = String::new();
        for part in self.parts() {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Variable { name, otherwise } => {
                    let value = lookup.variable(name).filter(|v| !v.expose_secret().is_empty());
                    match (&value, otherwise) {
                        (Some(value), _) => out.push_str(value.expose_secret()),
                        (None, Some(otherwise)) => out.push_str(otherwise),
                        (None, None) => {
                            return Err(self.error(ConfigFault::MissingVariable(name.clone())));
                        }
                    }
                }
                Part::File(path) => {
                    let fault = |why: String| ConfigFault::File {
                        path: shown(path, 200),
                        why: shown(&why, 200),
                    };
                    let text = lookup.file(path).map_err(|why| self.error(fault(why)))?;
                    // Editors and `echo` end a file with a line feed, which no token has.
                    out.push_str(text.expose_secret().trim_end_matches(['\n', '\r']));
                }
            }
        }
        let breaks = match stands {
            Stands::InProcess => out.contains('\0'),
            Stands::InHeader => out.chars().any(char::is_control),
        };
        if breaks || out.len() > MAX_RESOLVED {
            return Err(self.error(ConfigFault::Substituted(shown(self.names().trim(), 200))));
        }
        Ok(out.into())
    }

    fn names(&self) -> String {
        let name = |part: &Part| match part {
            Part::Literal(_) => String::new(),
            Part::Variable { name, .. } => format!("${{{name}}} "),
            Part::File(path) => format!("${{file:{path}}} "),
        };
        let names: String = self.parts().iter().map(name).collect();
        if names.is_empty() { "the text".to_owned() } else { names }
    }
}

/// A URL that a server can be at. The egress filter decides whether it is gone to.
pub(super) fn checked_url(text: &str) -> Result<Url, ConfigFault> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.chars().any(odd) {
        return Err(ConfigFault::Url("it holds a blank, a backslash or a control character"));
    }
    let url = Url::parse(text)
        .map_err(|_| ConfigFault::Url("it starts with https:// and names a host"))?;
    if !matches!(url.scheme(), "https" | "http") || url.host_str().is_none_or(str::is_empty) {
        return Err(ConfigFault::Url("it starts with https:// and names a host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigFault::Url("it holds a user or password; use `auth` or `headers`"));
    }
    if url.fragment().is_some() {
        return Err(ConfigFault::Url("it holds a fragment (#)"));
    }
    Ok(url)
}

/// Bytes of a value once everything is in place.
const MAX_RESOLVED: usize = 128 * 1024;
