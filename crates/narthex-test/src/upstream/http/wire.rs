//! Requests off a connection and answers onto it.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use super::Came;
use super::door::status;
use crate::upstream::mouth::Said;

/// How an answer is written.
#[derive(Debug, Clone, Copy)]
pub(in crate::upstream) enum Form {
    /// The first thing said is the body.
    Whole { modern: bool },
    /// Everything said is an event.
    Stream,
}

/// Status and headers of an answer.
#[derive(Debug, Clone)]
pub(in crate::upstream) struct Head {
    code: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    pub(in crate::upstream) fn new(code: u16) -> Self {
        Self { code, headers: Vec::new() }
    }

    pub(in crate::upstream) fn json(code: u16) -> Self {
        Self::new(code).with(("content-type".to_owned(), "application/json".to_owned()))
    }

    pub(in crate::upstream) fn with(mut self, header: (String, String)) -> Self {
        self.headers.push(header);
        self
    }

    fn text(&self) -> String {
        let first = format!("HTTP/1.1 {} Said\r\n", self.code);
        let line =
            |all: String, (name, value): &(String, String)| all + name + ": " + value + "\r\n";
        self.headers.iter().fold(first, line)
    }
}

/// The next request; none if there is no more, or it cannot be read.
pub(in crate::upstream) async fn read(from: &mut BufReader<OwnedReadHalf>) -> Option<Came> {
    let mut line = String::new();
    from.read_line(&mut line).await.ok()?;
    let method = line.split(' ').next().filter(|method| !method.is_empty())?.to_owned();
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
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Came { method, headers, body })
}

/// An answer that is known whole.
pub(in crate::upstream) async fn whole(
    to: &mut OwnedWriteHalf,
    head: &Head,
    body: &str,
) -> std::io::Result<()> {
    let text = format!("{}content-length: {}\r\n\r\n{body}", head.text(), body.len());
    to.write_all(text.as_bytes()).await
}

/// Writes what is said, until nothing more is. An error if the client left before that.
pub(in crate::upstream) async fn respond(
    said: mpsc::Receiver<Said>,
    from: &mut BufReader<OwnedReadHalf>,
    to: &mut OwnedWriteHalf,
    form: Form,
    head: &Head,
) -> std::io::Result<()> {
    let writing = async {
        match form {
            Form::Whole { modern } => first(said, to, modern, head).await,
            Form::Stream => stream(said, to, head).await,
        }
    };
    tokio::select! {
        written = writing => written,
        () = gone(from) => Err(std::io::ErrorKind::ConnectionAborted.into()),
    }
}

async fn first(
    mut said: mpsc::Receiver<Said>,
    to: &mut OwnedWriteHalf,
    modern: bool,
    head: &Head,
) -> std::io::Result<()> {
    while let Some(next) = said.recv().await {
        match next {
            Said::Line(body) | Said::Piece(body) | Said::Drip(body, _) => {
                let code = if modern { status(&body) } else { 200 };
                let json = head.headers.iter().cloned().fold(Head::json(code), Head::with);
                let text = format!("{}content-length: {}\r\n\r\n", json.text(), body.len());
                let bytes = [text.as_bytes(), &body].concat();
                to.write_all(&bytes).await?;
                break;
            }
            Said::Status { code, headers, body } => {
                let head = headers.into_iter().fold(Head::new(code), Head::with);
                whole(to, &head, &body).await?;
                break;
            }
            Said::Written(tell) => drop(tell.send(())),
        }
    }
    // Whatever comes now cannot be said any more, but someone may wait until it is written.
    while let Some(next) = said.recv().await {
        if let Said::Written(tell) = next {
            let _ = tell.send(());
        }
    }
    Ok(())
}

async fn stream(
    mut said: mpsc::Receiver<Said>,
    to: &mut OwnedWriteHalf,
    head: &Head,
) -> std::io::Result<()> {
    let head = format!(
        "{}content-type: text/event-stream\r\ncache-control: no-cache\r\n\
         transfer-encoding: chunked\r\n\r\n",
        head.text()
    );
    to.write_all(head.as_bytes()).await?;
    let mut in_pieces = false;
    while let Some(next) = said.recv().await {
        match next {
            Said::Line(line) => {
                in_pieces = false;
                chunk(to, &event(&line)).await?;
            }
            Said::Piece(piece) => {
                let start: &[u8] = if in_pieces { b"" } else { b"data: " };
                in_pieces = true;
                chunk(to, &[start, &piece].concat()).await?;
            }
            Said::Drip(line, every) => drip(to, &event(&line), every).await?,
            Said::Status { .. } => {}
            Said::Written(tell) => drop(tell.send(())),
        }
    }
    to.write_all(b"0\r\n\r\n").await
}

fn event(line: &[u8]) -> Vec<u8> {
    [b"event: message\ndata: ", line, b"\n\n"].concat()
}

async fn chunk(to: &mut OwnedWriteHalf, bytes: &[u8]) -> std::io::Result<()> {
    let size = format!("{:x}\r\n", bytes.len());
    to.write_all(&[size.as_bytes(), bytes, b"\r\n"].concat()).await
}

async fn drip(to: &mut OwnedWriteHalf, bytes: &[u8], every: Duration) -> std::io::Result<()> {
    for byte in bytes {
        chunk(to, &[*byte]).await?;
        tokio::time::sleep(every).await;
    }
    Ok(())
}

/// Until the client closes the connection.
async fn gone(from: &mut BufReader<OwnedReadHalf>) {
    match from.fill_buf().await {
        Ok(more) if !more.is_empty() => std::future::pending().await,
        _ => {}
    }
}
