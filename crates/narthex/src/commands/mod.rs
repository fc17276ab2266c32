//! What each command does: one command a file, laid out like the command line.

pub mod agent;
pub mod approvals;
pub mod completions;
mod confirm;
pub mod conversation;
pub mod doctor;
pub mod graph;
pub mod inbox;
pub mod init;
pub mod keep;
pub mod ledger;
pub mod mcp;
pub mod mode;
mod new_file;
pub mod page;
pub mod policy;
pub mod proxy;
pub mod reference;
pub mod run;
pub mod serve;
pub mod space;
pub mod status;
pub mod stdio;
pub mod stopping;
pub mod taint;
mod text_input;
pub mod token;
pub mod types;

use narthex_server::owner::{Reply, Request};

use crate::ask::Asking;
use crate::cli::{Cli, Command, Globals, GraphCommand};
use crate::output::Output;
use crate::{Context, Exit, Failure};

/// A command and what it needs to know, before it starts.
#[derive(Debug)]
pub struct Ready {
    /// Where the house is, its settings, how to answer.
    pub context: Context,
    command: Command,
    globals: Globals,
}

/// Finds what the command needs to know.
pub fn prepare(cli: Cli) -> Result<Ready, Failure> {
    let Cli { globals, command } = cli;
    let context = match &command {
        // Stopping must work when the settings are broken.
        Command::Completions(_) | Command::Reference(_) | Command::Doctor | Command::Stop(_) => {
            Context::unread(&globals)?
        }
        Command::Serve(args) if args.demo => Context::for_demo(&globals)?,
        // Needs no house, and no settings but those that are named.
        Command::Graph(GraphCommand::Check(_)) if globals.config.is_none() => {
            Context::unread(&globals)?
        }
        _ => Context::load(&globals)?,
    };
    Ok(Ready { context, command, globals })
}

impl Ready {
    /// Whether it runs until it is stopped.
    pub fn stays_up(&self) -> bool {
        matches!(self.command, Command::Serve(_) | Command::Stdio(_) | Command::Proxy(_))
    }

    /// Carries out the command.
    pub fn run(self) -> Result<Exit, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Exit::Failed, format!("cannot start: {error}")))?;
        let ended = runtime.block_on(carry_out(&self.context, &self.globals, &self.command));
        // Whatever still blocks a thread (a read from a terminal) must not hold up the end.
        runtime.shutdown_background();
        ended
    }
}

async fn carry_out(
    context: &Context,
    globals: &Globals,
    command: &Command,
) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => init::run(context, args).await,
        Command::Serve(args) => Box::pin(serve::run(context, args)).await,
        Command::Stdio(args) => stdio::run(context, args).await,
        Command::Proxy(args) => proxy::run(context, args).await,
        Command::Space(command) => space::run(context, command).await,
        Command::Page(command) => page::run(context, command).await,
        Command::Graph(command) => Box::pin(graph::run(context, command)).await,
        Command::Mcp(command) => Box::pin(mcp::run(context, command)).await,
        Command::Run(args) => run::run(context, args).await,
        Command::Types(args) => types::run(context, args).await,
        Command::Agent(command) => agent::run(context, command).await,
        Command::Token(command) => token::run(context, command).await,
        Command::Inbox(command) => inbox::run(context, command).await,
        Command::Approvals(command) => approvals::run(context, command).await,
        Command::Stop(args) => stopping::stop(context, globals, args).await,
        Command::Resume(args) => stopping::resume(context, args).await,
        Command::Mode(args) => mode::run(context, args).await,
        Command::Taint(command) => taint::run(context, command).await,
        Command::Conversation(command) => conversation::run(context, command).await,
        Command::Policy(command) => policy::run(context, command).await,
        Command::Ledger(command) => ledger::run(context, command).await,
        Command::Status => status::run(context).await,
        Command::Doctor => doctor::run(context, globals).await,
        Command::Completions(args) => completions::run(args),
        Command::Reference(args) => reference::run(args),
    }
}

/// Ends with what is wrong with the command line, or with the help that was asked for.
pub fn usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        return if error.print().is_ok() { Exit::Done } else { Exit::Failed };
    }
    if json_was_asked_for(std::env::args_os()) {
        let text = error.render().to_string();
        let first: Vec<&str> =
            text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let message = first.join(" ");
        Failure::new(Exit::Usage, message.trim_start_matches("error: "))
            .hint("narthex --help")
            .print(Output::Json);
    } else {
        // Nowhere is left to say that standard error is closed.
        let _ = error.print();
    }
    Exit::Usage
}

/// The command line could not be read, but this much of it can.
fn json_was_asked_for(words: impl Iterator<Item = std::ffi::OsString>) -> bool {
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    words.iter().any(|word| word == "--output=json")
        || words.windows(2).any(|pair| pair == ["--output", "json"])
}

/// Asks one thing of the house.
async fn once(context: &Context, request: Request) -> Result<Reply, Failure> {
    let mut asking = Asking::open(context).await?;
    let reply = asking.ask(request).await;
    asking.close().await?;
    reply
}

/// The house answered something else than what was asked.
fn unexpected() -> Failure {
    Failure::new(Exit::Failed, "the house answered something else than what was asked")
        .hint("check that the running server is of the same version: narthex status")
}
