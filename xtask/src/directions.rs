//! Dependencies point inward. The allowed edges are written down here; `deny.toml` says which
//! crates may name a dependency that must stay replaceable.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

/// Each crate with the crates of ours it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("narthex-core", &[]),
    ("narthex-policy", &["narthex-core"]),
    ("narthex-store", &["narthex-core"]),
    ("narthex-store-sqlite", &["narthex-core", "narthex-store"]),
    ("narthex-verify", &[]),
    ("narthex-egress", &[]),
    ("narthex-walls", &["narthex-core"]),
    ("narthex-gate", &["narthex-core", "narthex-policy", "narthex-store"]),
    ("narthex-graph", &["narthex-core", "narthex-store"]),
    ("narthex-graph-surface", &["narthex-core", "narthex-gate", "narthex-graph", "narthex-store"]),
    ("narthex-mcp", &["narthex-core", "narthex-egress", "narthex-gate"]),
    ("narthex-servers", &["narthex-core", "narthex-gate", "narthex-store", "narthex-walls"]),
    (
        "narthex-oauth",
        &["narthex-core", "narthex-egress", "narthex-gate", "narthex-servers", "narthex-store"],
    ),
    ("narthex-workspace", &["narthex-core", "narthex-gate", "narthex-store"]),
    ("narthex-sandbox", &["narthex-core", "narthex-gate", "narthex-store", "narthex-walls"]),
    (
        "narthex-server",
        &[
            "narthex-core",
            "narthex-gate",
            "narthex-graph",
            "narthex-graph-surface",
            "narthex-mcp",
            "narthex-policy",
            "narthex-sandbox",
            "narthex-servers",
            "narthex-store",
            "narthex-workspace",
        ],
    ),
    (
        "narthex",
        &[
            "narthex-core",
            "narthex-egress",
            "narthex-gate",
            "narthex-graph",
            "narthex-graph-surface",
            "narthex-mcp",
            "narthex-oauth",
            "narthex-policy",
            "narthex-sandbox",
            "narthex-server",
            "narthex-servers",
            "narthex-store",
            "narthex-store-sqlite",
            "narthex-verify",
            "narthex-walls",
            "narthex-workspace",
        ],
    ),
    (
        "narthex-test",
        &[
            "narthex-core",
            "narthex-egress",
            "narthex-gate",
            "narthex-graph",
            "narthex-graph-surface",
            "narthex-mcp",
            "narthex-oauth",
            "narthex-policy",
            "narthex-sandbox",
            "narthex-server",
            "narthex-servers",
            "narthex-store",
            "narthex-store-sqlite",
            "narthex-verify",
            "narthex-walls",
            "narthex-workspace",
        ],
    ),
    ("xtask", &[]),
];

/// What a pure crate must not depend on.
const IMPURE: &[&str] = &["tokio", "async-trait", "futures", "getrandom", "rand"];
const PURE: &[&str] = &["narthex-core", "narthex-policy"];

pub(crate) fn faults(root: &Path) -> anyhow::Result<Vec<String>> {
    let packages = packages(root)?;
    let wrappers = wrappers(root)?;
    let mut faults = Vec::new();
    for (name, dependencies) in &packages {
        faults.extend(inward(name, dependencies));
        faults.extend(wrapped(name, dependencies, &wrappers));
        faults.extend(pure(name, dependencies));
    }
    Ok(faults)
}

fn inward(name: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| known == &name) else {
        return vec![format!("{name}: a new crate; say in xtask what it may depend on")];
    };
    dependencies
        .iter()
        .filter(|dependency| {
            dependency.starts_with("narthex") && !allowed.contains(&dependency.as_str())
        })
        .map(|dependency| format!("{name} must not depend on {dependency}"))
        .collect()
}

fn wrapped(
    name: &str,
    dependencies: &BTreeSet<String>,
    wrappers: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    dependencies
        .iter()
        .filter(|dependency| wrappers.get(*dependency).is_some_and(|only| !only.contains(name)))
        .map(|dependency| format!("{name} must not depend on {dependency} (deny.toml)"))
        .collect()
}

fn pure(name: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let impure =
        |dependency: &&String| PURE.contains(&name) && IMPURE.contains(&dependency.as_str());
    let fault = |dependency: &String| format!("{name} is pure and must not depend on {dependency}");
    dependencies.iter().filter(impure).map(fault).collect()
}

/// Our crates with their normal dependencies (what tests use may point anywhere).
fn packages(root: &Path) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut packages = BTreeMap::new();
    for package in list(&metadata, "packages") {
        let name = text(&package, "name").context("a package without a name")?;
        let normal = list(&package, "dependencies")
            .iter()
            .filter(|dependency| dependency.get("kind").is_none_or(Value::is_null))
            .filter_map(|dependency| text(dependency, "name"))
            .collect();
        packages.insert(name, normal);
    }
    Ok(packages)
}

/// The wrappers of `deny.toml`: dependency → who may name it.
fn wrappers(root: &Path) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let text = std::fs::read_to_string(root.join("deny.toml")).context("deny.toml")?;
    let deny: toml::Table = text.parse().context("deny.toml")?;
    let bans = deny.get("bans").and_then(|bans| bans.get("deny")).and_then(toml::Value::as_array);
    let mut wrappers = BTreeMap::new();
    for ban in bans.context("deny.toml has no bans")? {
        let Some(name) = ban.get("crate").and_then(toml::Value::as_str) else { continue };
        let only = ban.get("wrappers").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let only = only.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect();
        wrappers.insert(name.to_owned(), only);
    }
    Ok(wrappers)
}

#[cfg(test)]
mod tests {
    use super::{inward, pure, wrapped, wrappers};
    use std::collections::BTreeSet;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_dependency_that_points_outward_is_found() {
        assert!(inward("narthex-gate", &set(&["narthex-core", "tokio"])).is_empty());
        assert_eq!(inward("narthex-core", &set(&["narthex-gate"])).len(), 1);
        assert_eq!(inward("narthex-gate", &set(&["narthex-mcp"])).len(), 1);
        assert_eq!(inward("narthex-nowhere", &set(&[])).len(), 1);
    }

    #[test]
    fn only_the_edge_names_rmcp() {
        let wrappers = wrappers(&crate::root()).expect("deny.toml");
        assert!(wrapped("narthex-mcp", &set(&["rmcp"]), &wrappers).is_empty());
        for other in ["narthex-gate", "narthex-server", "narthex", "narthex-workspace"] {
            assert_eq!(wrapped(other, &set(&["rmcp"]), &wrappers).len(), 1, "{other}");
        }
    }

    #[test]
    fn a_pure_crate_stays_pure() {
        assert_eq!(pure("narthex-core", &set(&["tokio"])).len(), 1);
        assert!(pure("narthex-gate", &set(&["tokio"])).is_empty());
    }
}
