//! One writer a house: whoever has the head file locked may write.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use narthex_store::StoreError;

/// Held until dropped; the system lets go of it when the process ends.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "held, not read")] File);

impl Lock {
    /// Waits a moment for a store that is just closing.
    pub(crate) async fn take(head_file: &Path) -> Result<Self, StoreError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(head_file)
            .map_err(unavailable)?;
        for _ in 0..ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::Error(error)) => return Err(unavailable(error)),
            }
        }
        Err(StoreError::Unavailable("another process has this store open".to_owned()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err wants")]
fn unavailable(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("the head file cannot be opened: {error}"))
}

const ATTEMPTS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);
