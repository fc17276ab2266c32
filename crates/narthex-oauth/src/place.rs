//! Addresses: read strictly, and judged before anything is sent.

use narthex_egress::EgressPolicy;
use url::{Host, Url};

use crate::fault::{Fault, wrong};

/// Reads an address as the egress filter does.
pub(crate) fn read(policy: &EgressPolicy, text: &str, what: &str) -> Result<Url, Fault> {
    policy.judge_url(text).map_err(|error| wrong(format!("{what}: {error}")))?;
    Url::parse(text).map_err(|_| wrong(format!("{what} is no address")))
}

/// Scheme, host and port.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

pub(crate) fn same_origin(a: &Url, b: &Url) -> bool {
    a.origin() == b.origin()
}

/// Whether it names this machine by its own names.
pub(crate) fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The resource as others know it: without what follows the path, which may be a secret.
pub(crate) fn resource(url: &Url) -> Url {
    let mut resource = url.clone();
    resource.set_query(None);
    resource.set_fragment(None);
    resource
}

/// Where metadata about a place lies: between its host and its path.
pub(crate) fn well_known(of: &Url, name: &str) -> String {
    let path = of.path().trim_end_matches('/');
    format!("{}/.well-known/{name}{path}", origin(of))
}

/// Whether `said` is `at`, or what `at` lies under.
pub(crate) fn covers(said: &Url, at: &Url) -> bool {
    let (outer, inner) = (said.path().trim_end_matches('/'), at.path().trim_end_matches('/'));
    let under =
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    same_origin(said, at) && under && said.query().is_none() && said.fragment().is_none()
}

#[cfg(test)]
mod tests {
    use super::{covers, resource, well_known};
    use url::Url;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn metadata_lies_between_host_and_path() {
        for (of, at) in [
            ("https://a.example", "https://a.example/.well-known/x"),
            ("https://a.example/", "https://a.example/.well-known/x"),
            ("https://a.example:8443/t/1/", "https://a.example:8443/.well-known/x/t/1"),
        ] {
            assert_eq!(well_known(&url(of), "x"), at);
        }
    }

    #[test]
    fn a_resource_is_what_was_asked_for_or_what_that_lies_under() {
        let at = url("https://a.example/t/mcp");
        for (said, is) in [
            ("https://a.example/t/mcp", true),
            ("https://a.example/t/mcp/", true),
            ("https://a.example/t", true),
            ("https://a.example", true),
            ("https://a.example/t/m", false),
            ("https://a.example/t/mcp/x", false),
            ("https://a.example:444/t/mcp", false),
            ("http://a.example/t/mcp", false),
            ("https://b.example/t/mcp", false),
            ("https://a.example/t/mcp?x", false),
        ] {
            assert_eq!(covers(&url(said), &at), is, "{said}");
        }
        assert_eq!(
            resource(&url("https://a.example/mcp?key=s3cret")).as_str(),
            "https://a.example/mcp"
        );
    }
}
