//! `narthex serve`.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use narthex_server::owner::{ApprovalRequest, Reply, Request};
use narthex_server::{DataDir, House, OwnerSocket};
use narthex_verify::{Fault, Place};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::approvals;
use super::init::write_config;
use super::ledger::verify::ledger;
use crate::cli::{LedgerVerifyArgs, ServeArgs};
use crate::demo::{self, Demo};
use crate::house::OpenHouse;
use crate::{Context, Exit, Failure, followers, output, stop};

/// Opens the door and keeps it open until told to stop.
pub async fn run(context: &Context, args: &ServeArgs) -> Result<Exit, Failure> {
    let context = &at_home(context, args)?;
    let dir = DataDir::at(&context.data_dir);
    if args.demo {
        demo::check_folder(&dir)?;
    }
    dir.create()?;
    write_config(&dir)?;
    if args.demo {
        demo::mark(&dir)?;
    }
    hide_memory();
    let stop = stop::on_signal()?;
    let mut kill = stop::KillSignal::hear()?;
    warn_of_root();
    let proof = prove(context, &dir, stop.clone()).await?;
    let mut open = OpenHouse::hold(context, "serve").await?;
    let demo = if args.demo { Some(demo::settle(&open).await?) } else { None };
    graphs(&open.house).await?;
    let door = open.door(context, args.listen).await?;
    let url = door.mcp_url();
    let unheld = |error: std::io::Error| Failure::file(&dir.socket(), &error);
    let socket = OwnerSocket::bind(&open.dir, &open.held, open.house.clone()).map_err(unheld)?;
    open.held.announce(&url).map_err(unheld)?;
    open.house.desk().announce(&url);

    let tasks = TaskTracker::new();
    if let Some(proof) = proof {
        tasks.spawn(proof);
    }
    tasks.spawn(socket.serve(stop.clone()));
    let following = followers::start(context, &open, &tasks);
    let (house, over) = (open.house.clone(), stop.clone());
    tasks.spawn(async move { kill.heed(&house, over).await });
    if !context.is_json() && std::io::stdout().is_terminal() {
        tasks.spawn(tell_of_approvals(open.house.clone(), stop.clone()));
    }
    tasks.close();
    say_ready(context, &url, demo.as_ref())?;
    tracing::info!(%url, mode = %open.house.gate().mode(), "the door is open");
    let served = door.serve(stop.clone()).await;
    stop.cancel();
    following.cancel();
    tasks.wait().await;
    open.close().await?;
    served.map_err(|error| Failure::new(Exit::Unavailable, format!("the door failed: {error}")))?;
    Ok(Exit::Done)
}

/// Stored queries that do not hold are not served, nor those of a graph that is not there.
async fn graphs(house: &House) -> Result<(), Failure> {
    let hall = house.graphs();
    let there = hall.engine().graphs().graphs(None).await.map_err(|error| {
        Failure::new(Exit::Unavailable, format!("the graphs cannot be read: {error}"))
            .hint("narthex doctor")
    })?;
    for slug in hall.config().declared.keys() {
        if there.iter().all(|graph| graph.slug != *slug) {
            let message = format!("the settings have [graphs.{slug}], and there is no such graph");
            return Err(Failure::new(Exit::Usage, message).hint(format!(
                "narthex graph init {slug} --space <space> --schema <file>, or take it out"
            )));
        }
    }
    for graph in &there {
        let catalogue = hall.catalogue(graph).await.map_err(|error| {
            Failure::new(Exit::Usage, error.to_string())
                .hint("narthex graph check FOLDER shows each in its place")
        })?;
        let mode = if catalogue.is_meta() { "meta" } else { "per_query" };
        let mcp = hall.config().declared.get(&graph.slug).map(|declared| declared.mcp.clone());
        let threshold = mcp.unwrap_or_default().threshold;
        let (exposed, all) = (catalogue.exposed().count(), catalogue.all().count());
        tracing::info!(graph = %graph.slug, mode, exposed, all, threshold, "stored queries");
    }
    Ok(())
}

/// Keys and tokens are in our memory: other processes of this user, a server of somebody else's among
/// them, are not to read it.
#[cfg(target_os = "linux")]
fn hide_memory() {
    if let Err(error) = narthex_walls::hide_own_memory() {
        tracing::warn!(%error, "other processes of this user can read this one's memory");
    }
}

#[cfg(not(target_os = "linux"))]
const fn hide_memory() {}

/// Whoever breaks into this process should not be root with it.
fn warn_of_root() {
    if rustix::process::geteuid().is_root() {
        tracing::warn!("running as root: give Narthex a user of its own");
    }
}

/// Says on the server's own terminal that a call waits. The nonce is not said: it is for whoever
/// looks at the request.
async fn tell_of_approvals(house: House, stop: CancellationToken) {
    let list = || Request::Approval(ApprovalRequest::List { agent: None, all: false, limit: 100 });
    let mut told = BTreeSet::new();
    loop {
        if let Ok(Reply::Approvals(list)) = house.desk().handle(list()).await {
            for info in list.iter().rev().filter(|info| told.insert(info.id)) {
                output::note(format!("approval needed: {}", approvals::line(info)));
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TELL_EVERY) => {}
        }
    }
}

/// A ledger that was tampered with is not served from. A long one is proven while the door is open
/// already, and the door closes if it does not hold.
pub(super) async fn prove(
    context: &Context,
    dir: &DataDir,
    stop: CancellationToken,
) -> Result<Option<impl Future<Output = ()> + Send + 'static>, Failure> {
    if !dir.database().exists() {
        return Ok(None);
    }
    let ledger = ledger(context, &LedgerVerifyArgs::default())?;
    match tokio::time::timeout(PATIENCE, ledger.verify(|_| {})).await {
        // A head file that is missing is made again at the start, which the ledger then says.
        // Whether a ledger was never sealed, or robbed of its seals, is told when it is opened.
        Ok(
            Ok(_)
            | Err(narthex_verify::Failure::Broken(
                Fault::HeadMissing { place: Place::File } | Fault::NeverSealed,
            )),
        ) => Ok(None),
        // A row beside the ledger that was edited is not served; the house opens without it.
        Ok(Err(narthex_verify::Failure::Broken(fault @ Fault::Row { .. }))) => {
            tracing::error!(%fault, "a row was changed from outside; run `narthex ledger verify`");
            Ok(None)
        }
        Ok(Err(failure)) => Err(broken(&failure)),
        Err(_) => Ok(Some(async move {
            let proven = tokio::select! {
                () = stop.cancelled() => return,
                proven = ledger.verify(|_| {}) => proven,
            };
            match proven {
                Ok(proof) => tracing::info!(records = proof.records, "the ledger is whole"),
                Err(failure) => {
                    tracing::error!(%failure, "the ledger is not whole: closing the door");
                    stop.cancel();
                }
            }
        })),
    }
}

fn broken(failure: &narthex_verify::Failure) -> Failure {
    Failure::new(Exit::LedgerBroken, format!("the ledger is not whole: {failure}"))
        .hint("narthex ledger verify; restore a backup, or keep this folder as evidence")
}

/// A demo that names no folder gets one of its own here.
fn at_home(context: &Context, args: &ServeArgs) -> Result<Context, Failure> {
    let mut context = context.clone();
    if args.demo && !context.data_dir_named {
        let here = std::env::current_dir()
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        context.data_dir = here.join(PathBuf::from(demo::FOLDER));
        context.data_dir_named = true;
    }
    Ok(context)
}

fn say_ready(context: &Context, url: &str, demo: Option<&Demo>) -> Result<(), Failure> {
    if !context.is_json() {
        return output::text(
            demo.map_or_else(|| plain(context, url), |demo| demo.welcome(url, &context.data_dir)),
        );
    }
    let mut line = Map::new();
    line.insert("ready".to_owned(), json!(true));
    line.insert("pid".to_owned(), json!(std::process::id()));
    line.insert("mcp_url".to_owned(), json!(url));
    line.insert("health_url".to_owned(), json!(url.replace("/mcp", "/healthz")));
    line.insert("data_dir".to_owned(), json!(context.data_dir.display().to_string()));
    line.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    if let Some(demo) = demo {
        line.extend(demo.facts(url));
    }
    output::json_line(&Value::Object(line))
}

fn plain(context: &Context, url: &str) -> String {
    let option = if context.data_dir_named {
        format!(" --data-dir {}", context.data_dir.display())
    } else {
        String::new()
    };
    format!(
        "The door is open: {url}\n\n\
         Let an agent in:\n  narthex agent add claude --space <space>{option}\n  narthex token create claude{option}\n\
         What waits for you:\n  narthex inbox list{option}\n\
         Stop with Ctrl-C."
    )
}

/// How often the server's own terminal is told what waits.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// How long the door waits for the ledger to be proven.
const PATIENCE: Duration = Duration::from_secs(5);
