//! A name server that says what it is told, one answer after the other.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use narthex_egress::{Answer, Resolve, ResolveError};

/// Answers by name. The last of a name's answers stays.
#[derive(Debug, Default)]
pub(crate) struct Names {
    answers: HashMap<String, Vec<Answer>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    /// Nobody is known.
    pub(crate) fn none() -> Arc<Self> {
        Arc::default()
    }

    /// These names at these addresses.
    pub(crate) fn of(names: &[(&str, &[&str])]) -> Arc<Self> {
        let mut all = Self::default();
        for (name, addresses) in names {
            all = all.then(name, addresses, &[]);
        }
        Arc::new(all)
    }

    /// One more answer for a name.
    pub(crate) fn then(mut self, name: &str, addresses: &[&str], aliases: &[&str]) -> Self {
        let addresses = addresses.iter().map(|text| text.parse::<IpAddr>().expect("an address"));
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let answer = Answer { addresses: addresses.collect(), aliases };
        self.answers.entry(name.to_owned()).or_default().push(answer);
        self
    }

    /// How often a name was asked for.
    pub(crate) fn asked(&self, name: &str) -> usize {
        self.asked.lock().expect("a lock").iter().filter(|asked| *asked == name).count()
    }

    pub(crate) fn answer(&self, name: &str) -> Option<Answer> {
        let before = self.asked(name);
        self.asked.lock().expect("a lock").push(name.to_owned());
        let answers = self.answers.get(name)?;
        answers.get(before).or(answers.last()).cloned()
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> Result<Answer, ResolveError> {
        self.answer(name).ok_or(ResolveError::NoAnswer)
    }
}
