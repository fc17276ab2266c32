//! The side of whoever holds the data directory.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::codec::{Framed, LengthDelimitedCodec};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::path::ShortPath;
use super::{Hello, Purpose, VERSION, codec, receive, send};
use crate::owner::{OwnerError, Request, StdioIdentity, Trouble};
use crate::{DataDir, Held, House};

/// The listening socket. Only who holds the data directory can make one.
#[derive(Debug)]
pub struct OwnerSocket {
    listener: UnixListener,
    house: House,
    path: std::path::PathBuf,
    _short: ShortPath,
}

impl OwnerSocket {
    /// Binds it. A socket left behind by a process that was killed is replaced, which is safe
    /// because the lock is ours.
    pub fn bind(dir: &DataDir, _held: &Held, house: House) -> io::Result<Self> {
        let path = dir.socket();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let short = ShortPath::of(&path)?;
        let listener = UnixListener::bind(&short.path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(Self { listener, house, path, _short: short })
    }

    /// Serves until told to stop; requests under way are finished.
    pub async fn serve(self, stop: CancellationToken) {
        let tasks = TaskTracker::new();
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let place = tokio::select! {
                () = stop.cancelled() => break,
                place = Arc::clone(&places).acquire_owned() => place,
            };
            let stream = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::warn!(%error, "the owner's socket could not accept a connection");
                        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                        continue;
                    }
                },
            };
            let (house, stop) = (self.house.clone(), stop.clone());
            tasks.spawn(async move {
                let _place = place;
                if let Err(error) = attend(stream, &house, &stop).await {
                    tracing::debug!(%error, "a connection on the owner's socket ended");
                }
            });
        }
        let _ = std::fs::remove_file(&self.path);
        tasks.close();
        tasks.wait().await;
    }
}

async fn attend(
    stream: UnixStream,
    house: &House,
    stop: &CancellationToken,
) -> Result<(), OwnerError> {
    let same_user =
        stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw());
    let mut frames = Framed::new(stream, codec());
    if !same_user {
        let refused: Result<(), OwnerError> = Err(OwnerError {
            kind: Trouble::Invalid,
            message: "this socket is the owner's".to_owned(),
        });
        return send(&mut frames, &refused).await;
    }
    let Some(hello) = receive::<_, Hello>(&mut frames).await? else { return Ok(()) };
    if hello.version != VERSION {
        let message = "the running server is of another version; restart it".to_owned();
        return send(
            &mut frames,
            &Err::<(), _>(OwnerError { kind: Trouble::Unavailable, message }),
        )
        .await;
    }
    send(&mut frames, &Ok::<(), OwnerError>(())).await?;
    match hello.purpose {
        Purpose::Owner => answer(frames, house, stop).await,
        Purpose::Stdio(identity) => {
            bridge(frames.into_inner(), house, identity, stop).await;
            Ok(())
        }
    }
}

/// Requests one after the other; one that was read is carried out to its end.
async fn answer(
    mut frames: Framed<UnixStream, LengthDelimitedCodec>,
    house: &House,
    stop: &CancellationToken,
) -> Result<(), OwnerError> {
    let desk = house.desk().visit();
    loop {
        let request = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            request = receive::<_, Request>(&mut frames) => request?,
            () = tokio::time::sleep(IDLE) => {
                desk.tidy_up().await;
                continue;
            }
        };
        let Some(request) = request else { return Ok(()) };
        let reply = desk.handle(request).await;
        send(&mut frames, &reply).await?;
    }
}

async fn bridge(
    stream: UnixStream,
    house: &House,
    identity: StdioIdentity,
    stop: &CancellationToken,
) {
    let (reader, writer) = stream.into_split();
    house.serve_stdio(identity, reader, writer, stop.clone()).await;
}

/// After how long what somebody left half done is forgotten.
const IDLE: std::time::Duration = std::time::Duration::from_mins(3);
/// Connections at once: commands, and MCP clients on stdio.
const MAX_CONNECTIONS: usize = 256;
