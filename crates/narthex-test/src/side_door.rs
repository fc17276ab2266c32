//! A door of a test's own: any gate with any surface, on loopback.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use narthex_gate::{Gate, ReadySurface};
use narthex_mcp::{EdgeConfig, HostPolicy, Listening, mcp_service, serve};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Client;

/// A gate and a surface that are served until this is dropped or closed.
#[derive(Debug)]
pub struct SideDoor {
    address: String,
    stop: CancellationToken,
    serving: JoinSet<()>,
}

impl SideDoor {
    /// Opens one on a port of its own.
    pub async fn open(
        gate: Gate,
        surface: Arc<ReadySurface>,
        edge: EdgeConfig,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let policy = HostPolicy::from_bind(IpAddr::V4(Ipv4Addr::LOCALHOST), &[], &[])?;
        let listening = Listening { listener, tls: None, policy, gate: gate.clone() };
        let service = mcp_service(gate, surface, edge.clone());
        let (stop, mut serving) = (CancellationToken::new(), JoinSet::new());
        let until = stop.clone();
        serving.spawn(async move {
            let _ = serve(listening, service, &edge, until).await;
        });
        Ok(Self { address, stop, serving })
    }

    /// A client with this token.
    pub fn client(&self, token: &str) -> Client {
        Client::new(format!("http://{}/mcp", self.address), Some(token.to_owned()))
    }

    /// The address behind it, for raw bytes.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Closes it and waits for what is under way.
    pub async fn close(mut self) {
        self.stop.cancel();
        while self.serving.join_next().await.is_some() {}
    }
}
