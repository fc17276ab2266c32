//! The hosts an owner named.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::address::AddressKind;
use crate::config::PolicyError;
use crate::parse::{Host, split_port};

/// Exact hosts with exact ports.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowList(HashSet<(Host, u16)>);

impl AllowList {
    pub(crate) fn read(entries: &[String]) -> Result<Self, PolicyError> {
        entries.iter().map(|entry| read(entry)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether this host is listed with this port.
    pub(crate) fn has(&self, host: &Host, port: u16) -> bool {
        self.0.contains(&(host.clone(), port))
    }

    /// Whether the address itself is.
    pub(crate) fn has_address(&self, address: IpAddr, port: u16) -> bool {
        self.has(&Host::Address(address), port)
    }
}

fn read(entry: &str) -> Result<(Host, u16), PolicyError> {
    let wrong = |fault| PolicyError::Entry { entry: entry.to_owned(), fault };
    let (host, port) = split_port(entry).map_err(wrong)?;
    let host = Host::read(host).map_err(wrong)?;
    if let Host::Address(address) = host
        && !AddressKind::of(address).can_be_listed(address)
    {
        return Err(PolicyError::Unlistable(entry.to_owned()));
    }
    Ok((host, port.unwrap_or(443)))
}

#[cfg(test)]
mod tests {
    use super::AllowList;
    use crate::parse::Host;

    fn list(entries: &[&str]) -> Result<AllowList, crate::PolicyError> {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        AllowList::read(&entries)
    }

    #[test]
    fn an_entry_is_one_host_and_one_port() {
        let list = list(&["Keys.corp", "hooks.corp:8443", "[fd00::1]:444"]).expect("a list");
        for (host, port, listed) in [
            ("keys.corp", 443, true),
            ("keys.corp", 8443, false),
            ("a.keys.corp", 443, false),
            ("corp", 443, false),
            ("hooks.corp", 8443, true),
            ("hooks.corp", 443, false),
            ("[fd00::1]", 444, true),
        ] {
            let host = Host::read(host).expect("a host");
            assert_eq!(list.has(&host, port), listed, "{host}:{port}");
        }
    }

    #[test]
    fn what_is_not_one_host_is_an_error_that_repeats_the_entry() {
        for entry in ["*", "*.corp", "10.0.0.0/8", "https://a.corp", "0.0.0.0", "224.0.0.1", ""] {
            let error = list(&[entry]).expect_err(entry).to_string();
            assert!(error.contains(&format!("`{entry}`")), "{error}");
        }
    }
}
