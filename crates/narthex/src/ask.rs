//! A connection to the house: through the process that holds the data directory, or by holding
//! it ourselves. Whoever asks cannot tell the difference.

use std::time::Duration;

use narthex_server::owner::{OwnerError, Reply, Request, Trouble};
use narthex_server::{DataDir, DataDirError, OwnerClient};

use crate::house::{OpenHouse, no_house};
use crate::{Context, Exit, Failure};

/// A connection to the house.
#[derive(Debug)]
pub struct Asking(Way);

#[derive(Debug)]
enum Way {
    /// Someone else holds the data directory and answers.
    Through(Box<OwnerClient>),
    /// We hold it.
    Ourselves(Box<OpenHouse>),
}

impl Asking {
    /// Finds the house. Another command that holds it for a moment is waited for.
    pub async fn open(context: &Context) -> Result<Self, Failure> {
        let dir = DataDir::at(&context.data_dir);
        if !dir.has_house() {
            return Err(no_house(&dir));
        }
        let mut waited = Duration::ZERO;
        loop {
            if let Some(client) = OwnerClient::connect(&dir).await? {
                return Ok(Self(Way::Through(Box::new(client))));
            }
            match dir.hold("command") {
                Ok(held) => drop(held),
                Err(DataDirError::HeldBy { .. }) if waited < PATIENCE => {
                    tokio::time::sleep(BETWEEN).await;
                    waited += BETWEEN;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            match OpenHouse::hold(context, "command").await {
                Ok(house) => return Ok(Self(Way::Ourselves(Box::new(house)))),
                // Someone was faster between the two; ask them.
                Err(failure) if failure.exit == Exit::Unavailable && waited < PATIENCE => {
                    tokio::time::sleep(BETWEEN).await;
                    waited += BETWEEN;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Finds the house only if someone else holds it.
    pub async fn through(context: &Context) -> Result<Option<Self>, Failure> {
        let client = OwnerClient::connect(&DataDir::at(&context.data_dir)).await?;
        Ok(client.map(|client| Self(Way::Through(Box::new(client)))))
    }

    /// Asks for something.
    pub async fn ask(&mut self, request: Request) -> Result<Reply, Failure> {
        Ok(self.tell(request).await?)
    }

    /// Asks for something, and hands on what the house says about trouble.
    pub async fn tell(&mut self, request: Request) -> Result<Reply, OwnerError> {
        match &mut self.0 {
            Way::Through(client) => client.ask(&request).await,
            Way::Ourselves(open) => open.house.desk().handle(request).await,
        }
    }

    /// Ends it, with everything that was asked for on disk.
    pub async fn close(self) -> Result<(), Failure> {
        match self.0 {
            Way::Through(_) => Ok(()),
            Way::Ourselves(open) => open.close().await,
        }
    }
}

impl From<OwnerError> for Failure {
    fn from(error: OwnerError) -> Self {
        let exit = match error.kind {
            Trouble::Invalid => Exit::Usage,
            Trouble::NotFound => Exit::NotFound,
            Trouble::Conflict => Exit::Conflict,
            Trouble::Denied => Exit::Denied,
            Trouble::Unavailable => Exit::Unavailable,
            Trouble::Internal => Exit::Failed,
        };
        Self::new(exit, error.message)
    }
}

/// How long another command is waited for, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(20);
const BETWEEN: Duration = Duration::from_millis(25);
