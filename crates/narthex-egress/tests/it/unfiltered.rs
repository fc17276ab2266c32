//! What this crate is there to replace: the controls of the tests, and nothing else.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::support::Names;

/// A client without a filter, which believes the same name server and no proxy.
pub(crate) fn client(names: &Arc<Names>) -> Client {
    #[expect(clippy::disallowed_methods, reason = "the control: no filter")]
    let builder = Client::builder();
    let names = Trusting(Arc::clone(names));
    let builder = builder.no_proxy().tls_certs_only([]).dns_resolver(names);
    builder.timeout(Duration::from_secs(2)).build().expect("a client")
}

/// A client as the library makes it, environment and all.
pub(crate) fn as_it_comes() -> Client {
    #[expect(clippy::disallowed_methods, reason = "the control: no filter")]
    let builder = Client::builder();
    builder.timeout(Duration::from_secs(5)).build().expect("a client")
}

/// A client that believes the system's store of certificates.
pub(crate) fn of_the_system(names: &Arc<Names>) -> Client {
    #[expect(clippy::disallowed_methods, reason = "the control: no filter")]
    let builder = Client::builder();
    builder.no_proxy().dns_resolver(Trusting(Arc::clone(names))).build().expect("a client")
}

/// Whether somebody was there: an answer, or a handshake that failed for want of TLS.
pub(crate) async fn tries(client: &Client, url: &str) -> bool {
    match client.get(url).send().await {
        Ok(_) => true,
        Err(error) => format!("{error:?}").contains("InvalidMessage"),
    }
}

struct Trusting(Arc<Names>);

impl Resolve for Trusting {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.0.answer(name.as_str()).map(|answer| answer.addresses).unwrap_or_default();
        let found: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
        Box::pin(std::future::ready(Ok(found)))
    }
}
