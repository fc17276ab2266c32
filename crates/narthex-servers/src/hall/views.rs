//! Servers as they are under profiles, kept while the file says the same: a call should not have to
//! stack them again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use narthex_core::Slug;

use super::{HallFault, held, stacked};
use crate::config::{ServerConfig, ServerName, ServersFile};

/// What was stacked, of one reading of the file.
#[derive(Debug, Default)]
pub(super) struct Views(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    file: Option<Arc<ServersFile>>,
    by_profiles: HashMap<Vec<Slug>, Arc<Stack>>,
}

/// Each server of a stack: as the file has it, and as it is under the stack.
pub(super) type Stack = BTreeMap<ServerName, (Arc<ServerConfig>, Arc<ServerConfig>)>;

impl Views {
    /// The servers of these profiles.
    pub(super) fn of(
        &self,
        file: &Arc<ServersFile>,
        profiles: &[Slug],
    ) -> Result<Arc<Stack>, HallFault> {
        let mut kept = held(&self.0);
        let same = kept.file.as_ref().is_some_and(|known| Arc::ptr_eq(known, file));
        if !same || kept.by_profiles.len() >= MOST_STACKS {
            *kept = Kept { file: Some(Arc::clone(file)), by_profiles: HashMap::new() };
        }
        if let Some(stack) = kept.by_profiles.get(profiles) {
            return Ok(Arc::clone(stack));
        }
        let mut stack = Stack::new();
        for (name, config) in stacked(file, profiles)? {
            if let Some(base) = file.servers.get(&name) {
                stack.insert(name, (Arc::new(base.clone()), Arc::new(config)));
            }
        }
        let stack = Arc::new(stack);
        kept.by_profiles.insert(profiles.to_vec(), Arc::clone(&stack));
        Ok(stack)
    }
}

/// Different stacks at hand; one more, and all are made again as they are asked for.
const MOST_STACKS: usize = 256;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Views;
    use crate::config;

    #[test]
    fn a_stack_is_kept_while_the_file_is_the_same_and_no_longer() {
        let file = |tier: &str| {
            let text = format!(
                r#"{{"mcpServers":{{"a":{{"command":"x","tier":"{tier}"}}}},"profiles":{{"p":{{"servers":["a"]}}}}}}"#
            );
            Arc::new(config::read(&text, 20).unwrap())
        };
        let (views, first, second) = (Views::default(), file("T0"), file("T1"));
        let p = ["p".parse().unwrap()];
        let stack = views.of(&first, &p).unwrap();
        assert!(Arc::ptr_eq(&stack, &views.of(&first, &p).unwrap()));
        assert!(views.of(&first, &[]).unwrap().is_empty());
        let other = views.of(&second, &p).unwrap();
        let tier = |stack: &super::Stack| stack.values().next().unwrap().1.rule_for("t").tier;
        assert_ne!(tier(&stack), tier(&other));
        assert_eq!(tier(&views.of(&first, &p).unwrap()), tier(&stack));
    }
}
