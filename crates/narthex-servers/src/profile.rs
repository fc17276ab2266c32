//! Named sets of servers, stacked.
//!
//! An agent has the profiles it was given, and by default none, which is no server at all. Stacked,
//! the sets are united; where two of them speak of one server, each says how the server would be
//! under it alone, and the more careful word counts: the lower limit, the higher tier, what is
//! denied. So a profile added to an agent never loosens what another one says, and their order
//! does not matter. What has no more careful word (two values for one variable) is an error.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::Slug;

use crate::config::{
    LimitsSaid, Process, Reach, RuleSaid, ServerConfig, ServerName, ToolFilter, ToolRule, Written,
};

/// A named set of servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: Slug,
    /// Which servers.
    pub servers: BTreeSet<ServerName>,
    /// What is different about them here.
    pub overrides: BTreeMap<ServerName, Overrides>,
}

/// What is different about a server in a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// Other limits.
    pub limits: LimitsSaid,
    /// Other tiers and effects.
    pub tools: BTreeMap<String, RuleSaid>,
    /// More variables, or other values for them.
    pub env: Vec<(String, Written)>,
    /// Fewer tools: it takes away from what the server shows.
    pub filter: ToolFilter,
}

/// Two profiles that cannot be had together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the profiles {one} and {other} do not go together: for the server {server} they say different things about {about}; give the agent one of them, or make them say the same"
)]
pub struct ProfileConflict {
    /// One.
    pub one: Slug,
    /// The other.
    pub other: Slug,
    /// The server they disagree on.
    pub server: ServerName,
    /// What they disagree on.
    pub about: String,
}

/// The servers of a stack of profiles, as they are under it. None for no profile. A server that is
/// disabled, or no longer in the file, is in no stack.
pub fn stack<'a>(
    profiles: impl IntoIterator<Item = &'a Profile>,
    servers: &BTreeMap<ServerName, ServerConfig>,
) -> Result<BTreeMap<ServerName, ServerConfig>, ProfileConflict> {
    let profiles: BTreeMap<&Slug, &Profile> =
        profiles.into_iter().map(|profile| (&profile.name, profile)).collect();
    let mut stacked: BTreeMap<ServerName, (ServerConfig, &Slug)> = BTreeMap::new();
    for (name, profile) in profiles {
        for server in &profile.servers {
            let Some(base) = servers.get(server).filter(|base| !base.disabled) else { continue };
            let under = profile.apply(base);
            let joined = match stacked.get(server) {
                None => under,
                Some((standing, by)) => {
                    join(standing, &under).map_err(|about| ProfileConflict {
                        one: (*by).clone(),
                        other: name.clone(),
                        server: server.clone(),
                        about,
                    })?
                }
            };
            stacked.insert(server.clone(), (joined, name));
        }
    }
    Ok(stacked.into_iter().map(|(name, (server, _))| (name, server)).collect())
}

impl Profile {
    /// The server as it is under this profile alone.
    fn apply(&self, base: &ServerConfig) -> ServerConfig {
        let mut server = base.clone();
        let Some(overrides) = self.overrides.get(&base.name) else { return server };
        server.limits = overrides.limits.over(base.limits);
        server.filter = base.filter.both(&overrides.filter);
        for (tool, said) in &overrides.tools {
            server.tools.insert(tool.clone(), said.over(base.rule_for(tool)));
        }
        if let Reach::Process(process) = &mut server.reach {
            for (name, value) in &overrides.env {
                process.env.retain(|(other, _)| other != name);
                process.env.push((name.clone(), value.clone()));
            }
            process.env.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        server
    }
}

/// Two views of one server; both come from one base.
fn join(a: &ServerConfig, b: &ServerConfig) -> Result<ServerConfig, String> {
    let mut joined = a.clone();
    joined.limits = a.limits.lower(b.limits);
    joined.filter = a.filter.both(&b.filter);
    for tool in a.tools.keys().chain(b.tools.keys()) {
        let rule = join_rules(tool, a.rule_for(tool), b.rule_for(tool))?;
        joined.tools.insert(tool.clone(), rule);
    }
    if let (Reach::Process(process), Reach::Process(other)) = (&mut joined.reach, &b.reach) {
        join_env(process, other)?;
    }
    Ok(joined)
}

fn join_rules(tool: &str, a: &ToolRule, b: &ToolRule) -> Result<ToolRule, String> {
    match (&a.target, &b.target) {
        (Some(one), Some(other)) if one != other => {
            Err(format!("the target of {}", crate::text::shown(tool, 80)))
        }
        _ => Ok(a.stricter(b)),
    }
}

fn join_env(process: &mut Process, other: &Process) -> Result<(), String> {
    for (name, value) in &other.env {
        match process.env.iter().find(|(known, _)| known == name) {
            Some((_, known)) if known != value => return Err(format!("the variable {name}")),
            Some(_) => {}
            None => process.env.push((name.clone(), value.clone())),
        }
    }
    process.env.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use narthex_core::Tier;
    use serde_json::json;

    use super::{Profile, ProfileConflict, stack};
    use crate::config::{self, Reach, ServerConfig, ServerName, ServersFile};

    fn file() -> ServersFile {
        let text = json!({
            "mcpServers": {
                "github": {
                    "command": "gh-mcp", "env": {"TOKEN": "${GH}"},
                    "limits": {"callSeconds": 20},
                    "tools": {"list": {"tier": "T0"}, "merge": {"tier": "T3", "target": "/pr"}},
                    "denyTools": ["nuke"]
                },
                "memory": {"command": "memory"},
                "old": {"command": "old", "disabled": true}
            },
            "profiles": {
                "empty": {},
                "plain": {"servers": ["github"]},
                "quick": {"servers": ["github"], "overrides": {"github": {
                    "limits": {"callSeconds": 5}, "denyTools": ["close"]}}},
                "slow": {"servers": ["github", "memory"], "overrides": {"github": {
                    "limits": {"callSeconds": 30, "restarts": 0}, "allowTools": ["list", "close"]}}},
                "loose": {"servers": ["github"], "overrides": {"github": {
                    "tools": {"list": {"tier": "T0"}, "edit": {"tier": "T1"}}}}},
                "tight": {"servers": ["github"], "overrides": {"github": {
                    "tools": {"list": {"tier": "T2", "effects": {"reads": "private"}}}}}},
                "work": {"servers": ["github"], "overrides": {"github": {
                    "env": {"TOKEN": "${GH_WORK}", "HOST": "ghe"}}}},
                "home": {"servers": ["github"], "overrides": {"github": {
                    "env": {"TOKEN": "${GH_HOME}"}}}},
                "other-target": {"servers": ["github"], "overrides": {"github": {
                    "tools": {"merge": {"tier": "T3", "target": "/id"}}}}},
                "gone": {"servers": ["old"]}
            }
        });
        config::read(&text.to_string(), config::USUAL_SERVERS).unwrap()
    }

    type Stacked = Result<BTreeMap<ServerName, ServerConfig>, ProfileConflict>;

    fn stacked(file: &ServersFile, names: &[&str]) -> Stacked {
        let profiles: Vec<&Profile> =
            names.iter().map(|name| &file.profiles[&name.parse().unwrap()]).collect();
        stack(profiles, &file.servers)
    }

    fn github(file: &ServersFile, names: &[&str]) -> ServerConfig {
        stacked(file, names).unwrap()[&"github".parse().unwrap()].clone()
    }

    #[test]
    fn sets_are_united_and_nothing_is_had_by_default() {
        let file = file();
        for (names, servers) in [
            (&[] as &[&str], vec![]),
            (&["empty"], vec![]),
            (&["gone"], vec![]),
            (&["plain"], vec!["github"]),
            (&["slow"], vec!["github", "memory"]),
            (&["plain", "slow", "empty"], vec!["github", "memory"]),
        ] {
            let stacked = stacked(&file, names).unwrap();
            let found: Vec<&str> = stacked.keys().map(ServerName::as_str).collect();
            assert_eq!(found, servers, "{names:?}");
        }
    }

    #[test]
    fn the_more_careful_word_counts() {
        let file = file();
        for (names, seconds, list, edit) in [
            (&["plain"] as &[&str], 20, Tier::T0, Tier::T2),
            (&["quick"], 5, Tier::T0, Tier::T2),
            (&["slow"], 30, Tier::T0, Tier::T2),
            (&["slow", "plain"], 20, Tier::T0, Tier::T2),
            (&["slow", "quick"], 5, Tier::T0, Tier::T2),
            (&["loose"], 20, Tier::T0, Tier::T1),
            // Who says nothing says what the server says: the other does not loosen it.
            (&["loose", "plain"], 20, Tier::T0, Tier::T2),
            (&["loose", "tight"], 20, Tier::T2, Tier::T2),
        ] {
            let server = github(&file, names);
            assert_eq!(server.limits.call.as_secs(), seconds, "{names:?}");
            assert_eq!(server.rule_for("list").tier, list, "{names:?}");
            assert_eq!(server.rule_for("edit").tier, edit, "{names:?}");
        }
    }

    #[test]
    fn what_one_denies_no_other_shows() {
        let file = file();
        for (names, shown) in [
            (&["plain"] as &[&str], vec!["list", "close", "merge"]),
            (&["quick"], vec!["list", "merge"]),
            (&["slow"], vec!["list", "close"]),
            (&["slow", "plain"], vec!["list", "close"]),
            (&["slow", "quick"], vec!["list"]),
        ] {
            let server = github(&file, names);
            let all = ["list", "close", "merge", "nuke"];
            let found: Vec<&str> =
                all.into_iter().filter(|tool| server.filter.shows(tool)).collect();
            assert_eq!(found, shown, "{names:?}");
        }
    }

    #[test]
    fn two_values_for_one_variable_are_an_error_in_either_order() {
        let file = file();
        for (names, about) in [
            (["work", "home"], "TOKEN"),
            (["home", "work"], "TOKEN"),
            (["plain", "work"], "TOKEN"),
            (["plain", "other-target"], "merge"),
        ] {
            let error = stacked(&file, &names).unwrap_err();
            assert!(error.to_string().contains(about), "{error}");
        }
        let Reach::Process(process) = github(&file, &["work"]).reach else { panic!() };
        let env: Vec<_> = process.env.iter().map(|(n, v)| (n.as_str(), v.as_written())).collect();
        assert_eq!(env, [("HOST", "ghe"), ("TOKEN", "${GH_WORK}")]);
    }

    #[test]
    fn order_and_repetition_do_not_matter() {
        let file = file();
        let names = ["plain", "quick", "slow", "loose", "tight"];
        for a in names {
            for b in names {
                for c in names {
                    let one = stacked(&file, &[a, b, c]).unwrap();
                    let other = stacked(&file, &[c, b, a, b]).unwrap();
                    assert_eq!(one, other, "{a} {b} {c}");
                }
            }
        }
    }
}
