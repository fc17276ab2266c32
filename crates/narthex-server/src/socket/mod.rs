//! The local socket: how commands reach the process that holds the data directory.
//!
//! It lies in the data directory, can be opened only by the owner's user, and checks that again
//! for every connection. A connection says first what it is for: owner's requests, or an MCP
//! client's standard input and output.

mod client;
mod path;
mod server;

pub use client::OwnerClient;
pub use server::OwnerSocket;

use bytes::Bytes;
use futures::{Sink, SinkExt, Stream, StreamExt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio_util::codec::LengthDelimitedCodec;

use crate::owner::{OwnerError, StdioIdentity, Trouble};

/// The first frame of a connection.
#[derive(Debug, Serialize, Deserialize)]
struct Hello {
    version: u32,
    purpose: Purpose,
}

/// What a connection is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Purpose {
    /// Requests and replies.
    Owner,
    /// After the welcome, bare lines of MCP in both directions.
    Stdio(StdioIdentity),
}

/// Both sides must be of one version: a server that was upgraded is restarted.
const VERSION: u32 = 2;

/// Bytes of one frame.
const MAX_FRAME: usize = 64 * 1024 * 1024;

fn codec() -> LengthDelimitedCodec {
    LengthDelimitedCodec::builder().max_frame_length(MAX_FRAME).new_codec()
}

async fn send<S, T>(sink: &mut S, value: &T) -> Result<(), OwnerError>
where
    S: Sink<Bytes, Error = std::io::Error> + Unpin,
    T: Serialize,
{
    let frame = serde_json::to_vec(value).map_err(|error| broken(&error))?;
    sink.send(frame.into()).await.map_err(|error| broken(&error))
}

async fn receive<S, T>(stream: &mut S) -> Result<Option<T>, OwnerError>
where
    S: Stream<Item = Result<bytes::BytesMut, std::io::Error>> + Unpin,
    T: DeserializeOwned,
{
    match stream.next().await {
        None => Ok(None),
        Some(Ok(frame)) => serde_json::from_slice(&frame).map(Some).map_err(|error| broken(&error)),
        Some(Err(error)) => Err(broken(&error)),
    }
}

fn broken(error: &dyn std::fmt::Display) -> OwnerError {
    OwnerError {
        kind: Trouble::Unavailable,
        message: format!("the connection to the running server broke: {error}"),
    }
}
