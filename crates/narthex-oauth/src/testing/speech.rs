//! Requests off a connection and answers onto it.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// A request that came.
#[derive(Debug, Clone)]
pub struct Came {
    /// Of HTTP.
    pub method: String,
    /// Without its query.
    pub path: String,
    /// With names in lower case.
    pub headers: Vec<(String, String)>,
    /// As it came.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Said {
    /// Of HTTP.
    pub status: u16,
    /// As they are sent.
    pub headers: Vec<(String, String)>,
    /// As it is sent.
    pub body: Vec<u8>,
}

impl Came {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as a form.
    pub fn form(&self) -> BTreeMap<String, String> {
        url::form_urlencoded::parse(&self.body).into_owned().collect()
    }

    pub(super) async fn read(from: &mut BufReader<OwnedReadHalf>) -> Option<Self> {
        let mut line = String::new();
        from.read_line(&mut line).await.ok()?;
        let mut words = line.split(' ');
        let method = words.next().filter(|method| !method.is_empty())?.to_owned();
        let path = words.next()?.split('?').next()?.to_owned();
        let mut headers = Vec::new();
        loop {
            line.clear();
            from.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        from.read_exact(&mut body).await.ok()?;
        Some(Self { method, path, headers, body })
    }
}

impl Said {
    /// Without a body.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    /// With JSON.
    pub fn json(body: &Value) -> Self {
        let body = body.to_string().into_bytes();
        Self { body, ..Self::new(200).header("content-type", "application/json") }
    }

    /// With another status.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) async fn write(&self, to: &mut OwnedWriteHalf) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Said\r\n", self.status);
        for (name, value) in &self.headers {
            head = head + name + ": " + value + "\r\n";
        }
        let head = format!("{head}content-length: {}\r\n\r\n", self.body.len());
        to.write_all(&[head.as_bytes(), &self.body].concat()).await
    }
}
