//! `narthex stdio`.
//!
//! Whoever holds the data directory answers. If a server (or another stdio process) holds it,
//! lines go through its socket; if nobody does, this process takes hold, answers itself, and
//! serves the socket for others. When the holder goes away the next process takes over, and the
//! client at the other end notices nothing but an error for what was under way.

mod pump;

use narthex_server::owner::{Reply, Request, StdioIdentity, StopScope, SwitchRequest};
use narthex_server::{DataDir, OwnerClient, OwnerSocket};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::pump::{Ended, Pump};
use crate::ask::Asking;
use crate::cli::StdioArgs;
use crate::commands::serve::prove;
use crate::commands::unexpected;
use crate::house::OpenHouse;
use crate::stop::KillSignal;
use crate::{Context, Exit, Failure, followers, stop};

/// Serves one client on standard input and output until its input ends.
pub async fn run(context: &Context, args: &StdioArgs) -> Result<Exit, Failure> {
    let stop = stop::on_signal()?;
    let mut kill = KillSignal::hear()?;
    let mut pump = Pump::new(tokio::io::stdin(), tokio::io::stdout());
    loop {
        let identity = who(context, args).await?;
        let ended = match Backend::find(context, identity).await? {
            Backend::Through(stream) => {
                let (reader, writer) = tokio::io::split(stream);
                let over = CancellationToken::new();
                let pumping = async {
                    let ended = pump.run(reader, writer, &stop).await;
                    over.cancel();
                    ended
                };
                let (ended, ()) = tokio::join!(pumping, hand_on(context, &mut kill, &over));
                ended
            }
            Backend::Ourselves(open) => {
                hold(context, *open, identity, &mut pump, &mut kill, &stop).await?
            }
        };
        match ended {
            Ended::Input | Ended::Stopped => return Ok(Exit::Done),
            Ended::Backend => pump
                .excuse()
                .await
                .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?,
        }
    }
}

/// Who answers.
enum Backend {
    Through(tokio::net::UnixStream),
    Ourselves(Box<OpenHouse>),
}

impl Backend {
    async fn find(context: &Context, identity: StdioIdentity) -> Result<Self, Failure> {
        let dir = DataDir::at(&context.data_dir);
        for _ in 0..TRIES {
            if let Some(stream) = OwnerClient::stdio(&dir, identity).await? {
                return Ok(Self::Through(stream));
            }
            // Nobody serves it, so nobody has proven it: a broken ledger is not served from.
            let stop = CancellationToken::new();
            if let Some(rest) = prove(context, &dir, stop.clone()).await? {
                rest.await;
            }
            if stop.is_cancelled() {
                return Err(Failure::new(Exit::LedgerBroken, "the ledger is not whole")
                    .hint("narthex ledger verify"));
            }
            match OpenHouse::hold(context, "stdio").await {
                Ok(open) => return Ok(Self::Ourselves(Box::new(open))),
                Err(failure) if failure.exit == Exit::Unavailable => {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(Failure::new(
            Exit::Unavailable,
            "the data directory is held by a process that does not answer",
        )
        .hint("narthex status"))
    }
}

/// Answers ourselves, and serves the socket for whoever comes meanwhile.
async fn hold<R, W>(
    context: &Context,
    open: OpenHouse,
    identity: StdioIdentity,
    pump: &mut Pump<R, W>,
    kill: &mut KillSignal,
    stop: &CancellationToken,
) -> Result<Ended, Failure>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let unheld = |error: std::io::Error| Failure::new(Exit::Unavailable, error.to_string());
    let socket = OwnerSocket::bind(&open.dir, &open.held, open.house.clone()).map_err(unheld)?;
    let done = CancellationToken::new();
    let tasks = TaskTracker::new();
    tasks.spawn(socket.serve(done.clone()));
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (reader, writer) = tokio::io::split(theirs);
    let (house, until) = (open.house.clone(), done.clone());
    tasks.spawn(async move { house.serve_stdio(identity, reader, writer, until).await });
    let (house, until) = (open.house.clone(), done.clone());
    tasks.spawn(async move { house.watch_stop_file(until).await });
    tasks.close();
    // Whoever holds the house is followed, however it is served.
    let followers = TaskTracker::new();
    let following = followers::start(context, &open, &followers);
    followers.close();
    let (reader, writer) = tokio::io::split(ours);
    let pumping = async {
        let ended = pump.run(reader, writer, stop).await;
        done.cancel();
        ended
    };
    let (ended, ()) = tokio::join!(pumping, kill.heed(&open.house, done.clone()));
    tasks.wait().await;
    open.house.gate().drain().await;
    following.cancel();
    followers.wait().await;
    open.close().await?;
    Ok(ended)
}

/// A kill signal to a process that does not hold the house goes to the one that does.
async fn hand_on(context: &Context, kill: &mut KillSignal, over: &CancellationToken) {
    loop {
        tokio::select! {
            () = over.cancelled() => return,
            () = kill.came() => {}
        }
        let reason = Some("SIGUSR1 to narthex stdio".to_owned());
        let engage = SwitchRequest::Engage { scope: StopScope::Everything, reason };
        let told = async {
            match Asking::through(context).await? {
                Some(mut asking) => asking.ask(Request::Switch(engage)).await.map(drop),
                None => Err(Failure::new(Exit::Unavailable, "nobody holds the house")),
            }
        };
        if let Err(failure) = told.await {
            // What cannot be told is left where whoever opens the house looks first.
            let made = DataDir::at(&context.data_dir).stop_file().make();
            tracing::warn!(%failure, made = made.is_ok(), "SIGUSR1: the stop file was made");
        }
    }
}

/// Who the process speaks for: said on the command line, looked up in the house.
async fn who(context: &Context, args: &StdioArgs) -> Result<StdioIdentity, Failure> {
    let request = match &args.agent {
        Some(agent) => Request::StdioAgent { agent: agent.clone() },
        None => Request::Companion { space: args.space.clone() },
    };
    let mut asking = Asking::open(context).await?;
    let reply = asking.ask(request).await;
    asking.close().await?;
    match reply? {
        Reply::Stdio(identity) => Ok(identity),
        _ => Err(unexpected()),
    }
}

const TRIES: usize = 200;
const PIPE: usize = 64 * 1024;
