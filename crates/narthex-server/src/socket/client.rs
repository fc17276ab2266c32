//! The side of whoever asks.

use std::io;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use super::path::ShortPath;
use super::{Hello, Purpose, VERSION, broken, codec, receive, send};
use crate::DataDir;
use crate::owner::{OwnerError, Reply, Request, StdioIdentity, Trouble};

/// A connection to the process that holds the data directory.
#[derive(Debug)]
pub struct OwnerClient {
    frames: Framed<UnixStream, LengthDelimitedCodec>,
}

impl OwnerClient {
    /// Connects, if anyone listens there.
    pub async fn connect(dir: &DataDir) -> Result<Option<Self>, OwnerError> {
        let Some(mut frames) = open(dir).await? else { return Ok(None) };
        greet(&mut frames, Purpose::Owner).await?;
        Ok(Some(Self { frames }))
    }

    /// Connects an MCP client's standard input and output, if anyone listens there.
    pub async fn stdio(
        dir: &DataDir,
        identity: StdioIdentity,
    ) -> Result<Option<UnixStream>, OwnerError> {
        let Some(mut frames) = open(dir).await? else { return Ok(None) };
        greet(&mut frames, Purpose::Stdio(identity)).await?;
        Ok(Some(frames.into_inner()))
    }

    /// Asks for something.
    pub async fn ask(&mut self, request: &Request) -> Result<Reply, OwnerError> {
        send(&mut self.frames, request).await?;
        match receive::<_, Result<Reply, OwnerError>>(&mut self.frames).await? {
            Some(reply) => reply,
            None => Err(broken(
                &"it was closed before the answer came; see what happened with: narthex ledger tail",
            )),
        }
    }
}

async fn open(
    dir: &DataDir,
) -> Result<Option<Framed<UnixStream, LengthDelimitedCodec>>, OwnerError> {
    let path = match ShortPath::of(&dir.socket()) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(&error)),
    };
    match UnixStream::connect(&path.path).await {
        Ok(stream) => Ok(Some(Framed::new(stream, codec()))),
        Err(error) if nobody_listens(&error) => Ok(None),
        Err(error) => Err(broken(&error)),
    }
}

fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

async fn greet(
    frames: &mut Framed<UnixStream, LengthDelimitedCodec>,
    purpose: Purpose,
) -> Result<(), OwnerError> {
    let greeting = async {
        send(frames, &Hello { version: VERSION, purpose }).await?;
        receive::<_, Result<(), OwnerError>>(frames).await
    };
    // Being greeted takes no work, so whoever does not answer this answers nothing.
    match tokio::time::timeout(PATIENCE, greeting).await {
        Ok(welcome) => match welcome? {
            Some(welcome) => welcome,
            None => Err(broken(&"it was closed at once")),
        },
        Err(_) => Err(OwnerError {
            kind: Trouble::Unavailable,
            message: "the process that holds the data directory does not answer; see which one \
                      it is with: narthex doctor, and end it or wait"
                .to_owned(),
        }),
    }
}

const PATIENCE: Duration = Duration::from_secs(10);
