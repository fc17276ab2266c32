//! Starting a process of somebody else's: what is asked for, said without how it is done.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::Digest;
use secrecy::SecretString;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::config::{ServerName, Walls};

/// A process that is to be started.
#[derive(Debug)]
pub struct Order {
    /// Which server.
    pub server: ServerName,
    /// Whose connection it is for, as the name of a folder: what it keeps there is kept from others.
    pub room: String,
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// What its file must be.
    pub expected: Digest,
    /// What it is given.
    pub args: Vec<SecretString>,
    /// Its variables, besides what any program needs.
    pub env: Vec<(String, SecretString)>,
    /// Where it is started, if the owner says.
    pub cwd: Option<PathBuf>,
    /// What it may reach.
    pub walls: Walls,
}

/// Starts processes.
pub trait Starter: fmt::Debug + Send + Sync {
    /// Starts one, or says why nothing was started.
    fn start(&self, order: &Order) -> Result<Started, String>;
}

/// A process that was started.
pub struct Started {
    /// What it reads.
    pub to: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it writes.
    pub from: Box<dyn AsyncRead + Send + Unpin>,
    /// The process itself.
    pub process: Box<dyn Running>,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("process", &self.process).finish_non_exhaustive()
    }
}

/// A process under way. Dropping it ends it, in its own time.
#[async_trait]
pub trait Running: fmt::Debug + Send + Sync {
    /// Ends it with all that came of it, and waits until that is so. Says how it ended.
    async fn stop(&mut self) -> String;

    /// What it says on standard error, while it lives and after.
    fn log(&self) -> Box<dyn Said>;
}

/// What a process said.
pub trait Said: fmt::Debug + Send + Sync {
    /// The lines that are kept, the oldest first; clean, and without its secrets.
    fn lines(&self) -> Vec<String>;
}

/// How long a process may take to end at each sign.
pub(super) const GRACE: Duration = Duration::from_secs(2);

#[cfg(target_os = "linux")]
mod walled {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use async_trait::async_trait;
    use narthex_walls::{
        Ending, Environment, Launch, Limits, Log, LogBounds, Network, Preset, Spawned,
    };
    use secrecy::ExposeSecret as _;

    use super::{GRACE, Order, Running, Said, Started, Starter};
    use crate::config::{self, Walls};

    /// Starts processes under the keeper, behind the walls their owner gave them.
    #[derive(Debug)]
    pub struct WalledStarter {
        /// Our own binary, which keeps them.
        pub keeper: PathBuf,
        /// What they see of our environment.
        pub environment: Environment,
        /// Where each has a folder of its own.
        pub scratch: PathBuf,
        /// What no wall opens to.
        pub shut: Vec<PathBuf>,
    }

    impl Starter for WalledStarter {
        fn start(&self, order: &Order) -> Result<Started, String> {
            let of_server = self.scratch.join(order.server.as_str());
            let scratch = of_server.join(&order.room);
            let launch = Launch {
                keeper: self.keeper.clone(),
                command: order.program.clone(),
                args: order.args.iter().map(|arg| OsString::from(arg.expose_secret())).collect(),
                cwd: order.cwd.clone().unwrap_or_else(|| scratch.clone()),
                environment: self.environment.clone(),
                given: order.env.clone(),
                walls: walls(&order.walls),
                scratch: scratch.clone(),
                shut: self.shut.clone(),
                expected: Some(order.expected),
                grace: GRACE,
                log: LogBounds::default(),
            };
            for folder in [&self.scratch, &of_server, &scratch] {
                make_private(folder)?;
            }
            let mut spawned = Spawned::start(&launch).map_err(|error| error.to_string())?;
            let pipes = spawned.take_stdin().zip(spawned.take_stdout());
            let (to, from) = pipes.ok_or("the process has no pipes")?;
            let (to, from) = (Box::new(to), Box::new(from));
            Ok(Started { to, from, process: Box::new(Kept(spawned)) })
        }
    }

    /// A folder for its user alone; what is there is looked at by whoever uses it.
    fn make_private(folder: &std::path::Path) -> Result<(), String> {
        use std::os::unix::fs::DirBuilderExt as _;
        match std::fs::DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(format!("{} cannot be made: {error}", folder.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// What the file says, as the walls know it.
    fn walls(said: &Walls) -> narthex_walls::Walls {
        let network = if said.network { Network::On } else { Network::Off };
        let (preset, network) = match said.preset {
            config::Preset::None => (Preset::None, None),
            config::Preset::Files => (Preset::Files, Some(network)),
            config::Preset::Offline => (Preset::Offline, Some(network)),
        };
        narthex_walls::Walls {
            preset,
            read: said.read.clone(),
            write: said.write.clone(),
            network,
            unix_sockets: false,
            limits: Limits::default(),
        }
    }

    #[derive(Debug)]
    struct Kept(Spawned);

    #[async_trait]
    impl Running for Kept {
        async fn stop(&mut self) -> String {
            match self.0.stop().await {
                Ending::Refused(refusal) => format!("it was not started: {refusal:?}"),
                Ending::Code(code) => format!("it ended with code {code}"),
                Ending::Lost => "its keeper was ended, and it with it".to_owned(),
            }
        }

        fn log(&self) -> Box<dyn Said> {
            Box::new(Kepts(self.0.log()))
        }
    }

    #[derive(Debug)]
    struct Kepts(Log);

    impl Said for Kepts {
        fn lines(&self) -> Vec<String> {
            self.0.lines()
        }
    }
}

#[cfg(target_os = "linux")]
pub use walled::WalledStarter;
