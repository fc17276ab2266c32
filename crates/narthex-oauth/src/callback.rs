//! Where the owner's browser comes back to: this machine, one time.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use narthex_servers::hall::Brought;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout, timeout_at};
use url::form_urlencoded;

/// A port of this machine that waits for one way back.
#[derive(Debug)]
pub struct Callback {
    listener: TcpListener,
    at: SocketAddr,
}

/// A browser that waits for an answer.
#[derive(Debug)]
pub struct Waiting(TcpStream);

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum CallbackFault {
    /// The port.
    #[error("the port that the browser comes back to: {0}")]
    Port(#[from] io::Error),
    /// Nobody came.
    #[error("nobody came back within {0:?}")]
    Late(Duration),
}

impl Callback {
    /// Listens on this port, or on a free one.
    pub async fn bind(port: Option<u16>) -> Result<Self, CallbackFault> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let at = listener.local_addr()?;
        Ok(Self { listener, at })
    }

    /// Where the browser is sent back to.
    pub fn redirect(&self) -> String {
        format!("http://{}{PATH}", self.at)
    }

    /// Waits for the way back. Whatever else knocks is told that there is nothing.
    pub async fn wait(self, patience: Duration) -> Result<(Brought, Waiting), CallbackFault> {
        let until = Instant::now() + patience;
        loop {
            let accepted = timeout_at(until, self.listener.accept()).await;
            let (mut stream, _) = accepted.map_err(|_| CallbackFault::Late(patience))??;
            let Ok(Some(head)) = timeout(KNOCK, head(&mut stream)).await else { continue };
            match brought(&head, &self.at.to_string()) {
                Some(brought) => return Ok((brought, Waiting(stream))),
                None => answer(&mut stream, "404 Not Found", "There is nothing here.").await,
            }
        }
    }
}

impl Waiting {
    /// Tells the browser how it went.
    pub async fn tell(mut self, text: &str) {
        answer(&mut self.0, "200 OK", text).await;
    }
}

/// The head of a request, if it is a short one.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut piece) = (Vec::new(), [0_u8; 1024]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(piece.get(..read)?);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    String::from_utf8(head).ok()
}

/// What a request brings, if it is one for us. Said twice is not said at all.
fn brought(head: &str, host: &str) -> Option<Brought> {
    let mut lines = head.split("\r\n");
    let target = lines.next()?.strip_prefix("GET ")?.split(' ').next()?;
    let named = lines.filter_map(|line| line.split_once(':'));
    let mut hosts = named.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    // A page that had its name lead here would say that name.
    if hosts.next()?.1.trim() != host || hosts.next().is_some() {
        return None;
    }
    let (path, query) = target.split_once('?')?;
    if path != PATH {
        return None;
    }
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let one = |wanted: &str| {
        let mut named = pairs.iter().filter(|(name, _)| name == wanted);
        match (named.next(), named.next()) {
            (Some((_, value)), None) => Some(value.clone().into_owned()),
            _ => None,
        }
    };
    Some(Brought {
        state: one("state")?.into(),
        code: one("code").map(Into::into),
        issuer: one("iss"),
        error: one("error"),
    })
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Narthex</title><p>{}</p></html>\n",
        escaped(text)
    );
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         content-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // A browser that left has nothing to be told.
    let _ = timeout(KNOCK, async {
        stream.write_all(format!("{head}{body}").as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const PATH: &str = "/callback";
const MAX_HEAD: usize = 16 * 1024;
const KNOCK: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::brought;
    use secrecy::ExposeSecret as _;

    #[test]
    fn only_the_way_back_is_taken() {
        let head = |line: &str, host: &str| format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let at = "127.0.0.1:9";
        for (line, host, is) in [
            ("GET /callback?state=s&code=c&iss=i", at, true),
            ("GET /callback?state=s&error=access_denied", at, true),
            ("GET /callback?state=s&code=c", "evil.example:9", false),
            ("GET /callback?code=c", at, false),
            ("GET /callback?state=s&state=t&code=c", at, false),
            ("GET /callback", at, false),
            ("GET /favicon.ico?state=s", at, false),
            ("POST /callback?state=s&code=c", at, false),
        ] {
            assert_eq!(brought(&head(line, host), at).is_some(), is, "{line} {host}");
        }
        let twice = brought(&head("GET /callback?state=s&code=c&code=d", at), at).unwrap();
        assert!(twice.code.is_none());
        let good = brought(&head("GET /callback?state=s%20t&code=c", at), at).unwrap();
        assert_eq!(good.state.expose_secret(), "s t");
        assert!(!format!("{good:?}").contains("s t"));
        assert!(
            brought("GET /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1:9\r\nHost: b\r\n\r\n", at)
                .is_none()
        );
    }
}
