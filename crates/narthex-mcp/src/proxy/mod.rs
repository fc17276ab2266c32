//! A thin bridge for clients that only speak stdio: each line becomes a POST, each answer a line.

mod answer;
mod forward;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Url;
use secrecy::SecretString;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::era::Era;
use crate::fault::Fault;
use crate::in_flight::InFlight;
use crate::lines::{Line, Lines, write_lines};
use crate::message::Message;
use crate::reply::Reply;
use forward::Forwarder;

/// Where to bridge to, and the bounds.
#[derive(Debug, Clone)]
pub struct ProxyConfig {
    /// The endpoint: https, or http on this machine.
    pub url: String,
    /// The agent's token; sent there and nowhere else.
    pub token: SecretString,
    /// Certificates (PEM) to trust beside the system's, for a server with its own.
    pub extra_roots: Option<Vec<u8>>,
    /// Bytes of one line from the client.
    pub line_bytes: usize,
    /// Bytes of one answer from the server.
    pub answer_bytes: usize,
    /// Requests under way at once; over it, reading waits.
    pub calls: usize,
    /// How long connecting may take.
    pub connect_deadline: Duration,
    /// How long the server may say nothing.
    pub silence: Duration,
}

impl ProxyConfig {
    /// The usual bounds.
    pub fn new(url: impl Into<String>, token: SecretString) -> Self {
        Self {
            url: url.into(),
            token,
            extra_roots: None,
            line_bytes: 16 * 1024 * 1024,
            answer_bytes: 64 * 1024 * 1024,
            calls: 16,
            connect_deadline: Duration::from_secs(10),
            silence: Duration::from_mins(1),
        }
    }
}

/// A bridge that cannot be built, or whose ends broke.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The token would travel in clear, or nowhere.
    #[error("{0:?} cannot be used: the URL must be https, or http on this machine")]
    Url(String),
    /// The token cannot be sent in a header.
    #[error("the token is not one line of plain characters")]
    Token,
    /// The HTTP client cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
    /// The client's end broke.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Bridges until the input ends or `stop` is cancelled. Nothing but protocol is written to the
/// output.
pub async fn run_proxy<R, W>(
    config: ProxyConfig,
    input: R,
    output: W,
    stop: CancellationToken,
) -> Result<(), ProxyError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let forwarder = Arc::new(Forwarder::new(&config)?);
    let (answers, outgoing) = mpsc::channel(config.calls.max(1));
    let reading = read(&config, forwarder, Lines::new(input, config.line_bytes), answers, stop);
    tokio::try_join!(reading, write_lines(output, outgoing))?;
    Ok(())
}

async fn read<R: AsyncRead + Unpin>(
    config: &ProxyConfig,
    forwarder: Arc<Forwarder>,
    mut lines: Lines<R>,
    answers: mpsc::Sender<Bytes>,
    stop: CancellationToken,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(config.calls.max(1)));
    let tasks = TaskTracker::new();
    let in_flight = InFlight::default();
    loop {
        let line = tokio::select! {
            () = stop.cancelled() => break,
            line = lines.next() => line?,
        };
        let message = match line {
            None => break,
            Some(Line::Text(text)) => Message::read(&text).map_err(|bad| (bad.id, bad.fault)),
            Some(Line::TooLong) => Err((None, Fault::invalid_request("the line is too long"))),
        };
        let message = match message {
            Ok(message) => message,
            Err((id, fault)) => {
                send(&answers, Reply::fault(id.as_ref(), &fault)).await;
                continue;
            }
        };
        if message.method == "notifications/cancelled" {
            in_flight.cancel(&message);
            // In the modern era closing the request is all there is to say.
            if Era::of_line(&message) == Ok(Era::Modern) {
                continue;
            }
        }
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        // What comes after the handshake needs what the handshake agreed on.
        let handshake = message.method == "initialize";
        let id = message.id.clone();
        let (to, answers) = (Arc::clone(&forwarder), answers.clone());
        let work = async move {
            to.forward(message, &answers).await;
            drop(place);
        };
        if handshake {
            work.await;
        } else {
            let task = tasks.spawn(work);
            if let Some(id) = id {
                in_flight.begin(id, task.abort_handle());
            }
        }
    }
    tasks.close();
    tasks.wait().await;
    forwarder.end().await;
    Ok(())
}

async fn send(answers: &mpsc::Sender<Bytes>, reply: Reply) {
    if let Some(body) = reply.body {
        // Nobody is left to tell if this fails.
        let _ = answers.send(body).await;
    }
}

/// A URL the token may be sent to.
fn endpoint(text: &str) -> Result<Url, ProxyError> {
    let bad = || ProxyError::Url(text.chars().take(MAX_URL_SHOWN).collect());
    let url = Url::parse(text).map_err(|_| bad())?;
    let here = url.host_str().is_some_and(|host| {
        host == "localhost"
            || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
            || host.trim_matches(['[', ']']).parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback())
    });
    let safe = url.scheme() == "https" || (url.scheme() == "http" && here);
    // A password in a URL ends up in logs.
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if safe && plain && url.has_host() { Ok(url) } else { Err(bad()) }
}

/// `localhost` is this machine, whatever a resolver says.
fn loopback() -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]
}

const MAX_URL_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::endpoint;

    #[test]
    fn a_token_travels_encrypted_or_stays_on_this_machine() {
        for (url, good) in [
            ("https://door.example/mcp", true),
            ("https://door.example:8443/graphs/g/mcp", true),
            ("http://127.0.0.1:7431/mcp", true),
            ("http://localhost:7431/mcp", true),
            ("http://[::1]:7431/mcp", true),
            ("http://door.example/mcp", false),
            ("http://localhost.evil.example/mcp", false),
            ("http://127.0.0.1.evil.example/mcp", false),
            ("http://192.0.2.1/mcp", false),
            ("http://0.0.0.0/mcp", false),
            ("https://user:pass@door.example/mcp", false),
            ("ftp://127.0.0.1/mcp", false),
            ("file:///etc/passwd", false),
            ("door.example/mcp", false),
            ("", false),
        ] {
            assert_eq!(endpoint(url).is_ok(), good, "{url}");
        }
    }
}
