//! What may be reached. Pure: no look-up, no connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::address::AddressKind;
use crate::allow::AllowList;
use crate::config::{EgressConfig, LoopbackHttp, PolicyError};
use crate::error::EgressError;
use crate::parse::{Host, Target, UrlFault};
use crate::resolve::{Answer, ResolveError};

/// What may be reached, and under which caps.
#[derive(Debug, Clone)]
pub struct EgressPolicy {
    config: EgressConfig,
    allow: AllowList,
}

/// A target whose every address was checked. The only thing that is connected to.
///
/// INVARIANT: made only by [`EgressPolicy::admit`].
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    target: Target,
    addresses: Vec<SocketAddr>,
    zone: Zone,
}

/// On which side of the owner's door a target lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Public addresses alone.
    Outside,
    /// Reached because the owner named it.
    Inside,
}

impl EgressPolicy {
    /// A policy; what makes no sense is an error that names the key.
    pub fn new(config: EgressConfig) -> Result<Self, PolicyError> {
        config.check_bounds()?;
        crate::tls::roots(&config)?;
        let allow = AllowList::read(&config.allow)?;
        Ok(Self { config, allow })
    }

    /// Whether a host that nobody listed may lead to this address.
    pub fn judge_address(address: IpAddr) -> Result<(), AddressKind> {
        match AddressKind::of(address) {
            AddressKind::Public => Ok(()),
            kind => Err(kind),
        }
    }

    /// Reads a URL and judges all of it that can be judged without a look-up.
    pub fn judge_url(&self, text: &str) -> Result<Target, EgressError> {
        let target = Target::read(text, self.config.url_bytes)?;
        let here = self.is_this_machine(&target);
        if !target.is_secure() && !here {
            return Err(UrlFault::PlainHttp.into());
        }
        match target.host() {
            Host::Address(address) => self.judge_one(&target, *address)?,
            Host::Name(name) if is_internal(name) && !here => self.judge_listed(&target, name)?,
            Host::Name(_) => {}
        }
        Ok(target)
    }

    /// Judges what a name server said about a target: all of it or nothing.
    pub(crate) fn admit(&self, target: Target, answer: &Answer) -> Result<Admitted, EgressError> {
        let wrong = |why| EgressError::Unresolved { host: target.host().to_string(), why };
        if answer.addresses.is_empty() {
            return Err(wrong(ResolveError::NoAnswer));
        }
        if answer.addresses.len() > self.config.addresses
            || answer.aliases.len() > self.config.aliases
        {
            return Err(wrong(ResolveError::TooMany));
        }
        for alias in answer.aliases.iter().map(|alias| alias.trim_end_matches('.')) {
            if is_internal(&alias.to_ascii_lowercase()) {
                self.judge_listed(&target, alias)?;
            }
        }
        for address in &answer.addresses {
            self.judge_one(&target, *address)?;
        }
        let public = |address: &IpAddr| AddressKind::of(*address) == AddressKind::Public;
        let outside = answer.addresses.iter().all(public);
        let zone = if outside { Zone::Outside } else { Zone::Inside };
        let port = target.port();
        let addresses = answer.addresses.iter().map(|a| SocketAddr::new(*a, port)).collect();
        Ok(Admitted { target, addresses, zone })
    }

    /// What is known of a target without asking anybody.
    pub(crate) fn known(target: &Target) -> Option<Answer> {
        if let Some(address) = target.address() {
            return Some(Answer::from_addresses([address]));
        }
        let is_localhost = matches!(target.host(), Host::Name(name) if name == LOCALHOST);
        is_localhost.then(|| Answer::from_addresses(LOOPBACK))
    }

    pub(crate) fn config(&self) -> &EgressConfig {
        &self.config
    }

    fn judge_one(&self, target: &Target, address: IpAddr) -> Result<(), EgressError> {
        let port = target.port();
        let listed = self.allow.has(target.host(), port);
        let accepted = match AddressKind::of(address) {
            AddressKind::Public => true,
            AddressKind::Private(_) => listed,
            AddressKind::Loopback if self.is_this_machine(target) => true,
            _ => listed && self.allow.has_address(address, port),
        };
        if accepted {
            return Ok(());
        }
        let (host, entry) = (target.host().to_string(), target.allow_entry());
        Err(EgressError::Address { host, address, kind: AddressKind::of(address), entry })
    }

    fn judge_listed(&self, target: &Target, name: &str) -> Result<(), EgressError> {
        if self.allow.has(target.host(), target.port()) {
            return Ok(());
        }
        Err(EgressError::Name { host: name.to_owned(), entry: target.allow_entry() })
    }

    /// Whether the URL names this machine by its own names, and the owner allowed that.
    fn is_this_machine(&self, target: &Target) -> bool {
        self.config.loopback_http == LoopbackHttp::Allowed
            && match target.host() {
                Host::Name(name) => name == LOCALHOST,
                Host::Address(address) => AddressKind::of(*address) == AddressKind::Loopback,
            }
    }
}

impl Admitted {
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub(crate) fn zone(&self) -> Zone {
        self.zone
    }
}

/// Names that no public name server should be asked for: one label, or under a name that is
/// reserved for the inside.
fn is_internal(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    !name.contains('.') || INTERNAL.contains(&last) || name.ends_with(".home.arpa")
}

const LOCALHOST: &str = "localhost";
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
const INTERNAL: &[&str] =
    &[LOCALHOST, "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "onion"];

#[cfg(test)]
mod tests;
