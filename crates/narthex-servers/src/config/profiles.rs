//! Profiles, as the file has them.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::Slug;

use crate::profile::{Overrides, Profile};

use super::error::{ConfigError, ConfigFault, ConfigWarning};
use super::fields::{Field, Outcome};
use super::limits::LimitsSaid;
use super::name::{NameFault, ServerName};
use super::reach::{Reach, read_env};
use super::server::ServerConfig;
use super::tools::{ToolFilter, by_tool};

pub(super) fn read(
    field: Field<'_>,
    servers: &BTreeMap<ServerName, ServerConfig>,
    warnings: &mut Vec<ConfigWarning>,
) -> Outcome<BTreeMap<Slug, Profile>> {
    let mut profiles = BTreeMap::new();
    for entry in field.fields()?.all("profiles", MAX_PROFILES)? {
        let name: Slug = entry.key.parse().map_err(|_| ConfigError {
            at: entry.key_at,
            path: entry.path.clone(),
            fault: NameFault::Form(crate::text::shown(entry.key, 80)).into(),
        })?;
        profiles.insert(name.clone(), profile(name, entry, servers, warnings)?);
    }
    Ok(profiles)
}

fn profile(
    name: Slug,
    field: Field<'_>,
    servers: &BTreeMap<ServerName, ServerConfig>,
    warnings: &mut Vec<ConfigWarning>,
) -> Outcome<Profile> {
    let mut fields = field.fields()?;
    let mut named = BTreeSet::new();
    if let Some(list) = fields.take("servers") {
        for item in list.items("servers", servers.len())? {
            named.insert(known(item.text()?, &item, servers)?);
        }
    }
    let mut overrides = BTreeMap::new();
    if let Some(field) = fields.take("overrides") {
        for entry in field.fields()?.all("servers", servers.len())? {
            let server = known(entry.key, &entry, servers)?;
            if !named.contains(&server) {
                return entry.fault(ConfigFault::Conflict(
                    "this server is not among the profile's `servers`",
                ));
            }
            let is_process = servers
                .get(&server)
                .is_some_and(|config| matches!(config.reach, Reach::Process(_)));
            overrides.insert(server, read_overrides(entry, is_process, warnings)?);
        }
    }
    fields.finish()?;
    Ok(Profile { name, servers: named, overrides })
}

fn known(
    text: &str,
    field: &Field<'_>,
    servers: &BTreeMap<ServerName, ServerConfig>,
) -> Outcome<ServerName> {
    let name = text.parse::<ServerName>().map_err(|fault| field.error(fault.into()))?;
    if servers.contains_key(&name) {
        return Ok(name);
    }
    field.fault(ConfigFault::Conflict("no server of that name is in the file"))
}

fn read_overrides(
    field: Field<'_>,
    is_process: bool,
    warnings: &mut Vec<ConfigWarning>,
) -> Outcome<Overrides> {
    let mut fields = field.fields()?;
    let filter = ToolFilter::read(&mut fields)?;
    let env = fields.take("env");
    if let (Some(env), false) = (&env, is_process) {
        return env.fault(ConfigFault::Misplaced { key: "env", kind: "with a `command`" });
    }
    let overrides = Overrides {
        limits: fields.take("limits").map(LimitsSaid::read).transpose()?.unwrap_or_default(),
        tools: fields.take("tools").map(by_tool).transpose()?.unwrap_or_default(),
        env: env.map(|field| read_env(field, warnings)).transpose()?.unwrap_or_default(),
        filter,
    };
    fields.finish()?;
    Ok(overrides)
}

const MAX_PROFILES: usize = 100;
