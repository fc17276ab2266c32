//! The `mcpServers` file: in the format people have, with what Narthex adds to it.
//!
//! Only this file names a command. It is read strictly: what is not known is an error with line and
//! column, and what other clients write is passed over with a warning and never obeyed. Values stay
//! as they are written until a server starts ([`ServerConfig::resolve`]).

mod auth;
mod error;
mod fields;
mod keys;
mod limits;
mod name;
mod profiles;
mod reach;
mod resolve;
mod server;
mod tools;
mod walls;
mod written;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use narthex_core::Slug;

use crate::located::{self, Reading};
use crate::profile::Profile;

use fields::Fields;
use keys::BESIDE_SERVERS;

pub use auth::{Auth, OAuth, OAuthGrant};
pub use error::{ConfigError, ConfigFault, ConfigWarning, WarningKind};
pub use limits::{Limits, LimitsSaid};
pub use name::{NameFault, ServerName};
pub use reach::{Http, Process, Reach};
pub use resolve::{Lookup, Resolved, ResolvedAuth};
pub use server::{Allow, ServerConfig};
pub use tools::{RuleSaid, ToolFilter, ToolRule};
pub use walls::{Preset, Walls};
pub(crate) use written::{EDITORS, as_variable};
pub use written::{Part, Written};

/// What the file says.
#[derive(Debug, Clone, Default)]
pub struct ServersFile {
    /// The servers.
    pub servers: BTreeMap<ServerName, ServerConfig>,
    /// Named sets of them.
    pub profiles: BTreeMap<Slug, Profile>,
    /// What the owner should know about it.
    pub warnings: Vec<ConfigWarning>,
}

/// Reads the file's text. `most` is how many servers there may be: [`USUAL_SERVERS`], or what the
/// owner's settings say, and never more than [`MOST_SERVERS`].
pub fn read(text: &str, most: usize) -> Result<ServersFile, ConfigError> {
    let root = located::read(text, &READING).map_err(|(at, fault)| ConfigError {
        at,
        path: String::new(),
        fault: fault.into(),
    })?;
    let mut fields = Fields::root(&root)?;
    let mut file = ServersFile::default();
    let servers = match (fields.take("mcpServers"), fields.take("servers")) {
        (Some(_), Some(_)) => return fields.fault(ConfigFault::BothSpellings),
        (None, None) => return fields.fault(ConfigFault::NoServers),
        (Some(servers), None) | (None, Some(servers)) => servers,
    };
    let most = most.min(MOST_SERVERS);
    let whole = servers.clone();
    let servers = servers.fields()?.all("servers", usize::MAX)?;
    if servers.len() > most {
        let way_out = "; raise `servers.most` in narthex.toml (at most 200), or take some out";
        return whole.fault(ConfigFault::TooMany { what: "servers", most, way_out });
    }
    for field in servers {
        let server = ServerConfig::read(field, &mut file.warnings)?;
        file.servers.insert(server.name.clone(), server);
    }
    if let Some(profiles) = fields.take("profiles") {
        file.profiles = profiles::read(profiles, &file.servers, &mut file.warnings)?;
    }
    fields.ignore(BESIDE_SERVERS, &mut file.warnings);
    fields.finish()?;
    Ok(file)
}

/// Servers in one file, unless the owner says otherwise.
pub const USUAL_SERVERS: usize = 20;
/// And however much the owner says.
pub const MOST_SERVERS: usize = 200;

const READING: Reading = Reading { comments: false, bytes: 1024 * 1024, depth: 16, nodes: 100_000 };
