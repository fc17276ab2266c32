//! The name servers of this machine, asked without its search domains.

use async_trait::async_trait;
use hickory_resolver::config::{LookupIpStrategy, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RData};
use hickory_resolver::{TokioResolver, system_conf};

use super::{Answer, Resolve, ResolveError};

/// Asks the name servers the operating system is configured with, and `/etc/hosts` before them.
pub struct SystemResolver(TokioResolver);

impl SystemResolver {
    /// Reads the system's configuration. Of it only the servers are used, and how to ask them.
    pub fn new() -> Result<Self, ResolveError> {
        let (system, options) = system_conf::read_system_conf().map_err(|e| failed(&e))?;
        Self::asking(system, options)
    }

    fn asking(system: ResolverConfig, mut options: ResolverOpts) -> Result<Self, ResolveError> {
        let (_domain, _search, servers) = system.into_parts();
        // Both families, so that all addresses are judged and not those of the first answer.
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.preserve_intermediates = true;
        options.ndots = 0;
        let servers = ResolverConfig::from_name_servers(servers);
        let provider = TokioRuntimeProvider::default();
        let builder = TokioResolver::builder_with_config(servers, provider).with_options(options);
        builder.build().map(Self).map_err(|error| failed(&error))
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> Result<Answer, ResolveError> {
        let mut absolute = Name::from_ascii(name).map_err(|_| ResolveError::NoAnswer)?;
        absolute.set_fqdn(true);
        let found = self.0.lookup_ip(absolute).await.map_err(|error| failed(&error))?;
        let alias = |data: &RData| match data {
            RData::CNAME(alias) => Some(alias.0.to_ascii()),
            _ => None,
        };
        let aliases = found.as_lookup().answers().iter().filter_map(|record| alias(&record.data));
        Ok(Answer { addresses: found.iter().collect(), aliases: aliases.collect() })
    }
}

impl std::fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SystemResolver")
    }
}

fn failed(error: &NetError) -> ResolveError {
    if error.is_no_records_found() || error.is_nx_domain() {
        return ResolveError::NoAnswer;
    }
    ResolveError::Failed(crate::wire::one_line(&error.to_string()))
}

#[cfg(test)]
mod tests;
