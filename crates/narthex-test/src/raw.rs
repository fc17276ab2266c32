//! Exactly these bytes, for what no client would send.

use std::time::Duration;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Answer;

/// Sends bytes and reads until the server closes; tells the first answer and what came after it.
pub async fn exchange(address: &str, bytes: &[u8]) -> anyhow::Result<(Answer, String)> {
    let mut stream = TcpStream::connect(address).await?;
    // The server may stop reading before all is sent; what it said still counts.
    let _ = stream.write_all(bytes).await;
    let mut all = Vec::new();
    let reading = stream.read_to_end(&mut all);
    let _ = tokio::time::timeout(PATIENCE, reading).await.context("it was not closed")?;
    let all = String::from_utf8_lossy(&all);
    let (head, rest) = all.split_once("\r\n\r\n").context("no head")?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no status")?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers: Vec<_> = head.lines().skip(1).filter_map(header).collect();
    let mut answer = Answer { status, headers, text: String::new() };
    let length = answer.header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let (body, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
    body.clone_into(&mut answer.text);
    Ok((answer, after.to_owned()))
}

/// A legacy POST with these headers besides the usual ones; the connection is left open.
pub fn raw_post(headers: &[&[u8]], body: &str) -> Vec<u8> {
    let mut bytes = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n"
        .to_vec();
    for header in headers {
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
    bytes
}

const PATIENCE: Duration = Duration::from_secs(20);
