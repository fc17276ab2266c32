//! How much a process may use.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{Limits, Wall, WallError};

impl Limits {
    /// Holds this process, and all that come of it, to these.
    pub(crate) fn hold(&self) -> Result<(), WallError> {
        no_core()?;
        lower(Resource::Nofile, self.open_files)?;
        let others = [
            (Resource::As, self.memory),
            (Resource::Nproc, self.processes),
            (Resource::Cpu, self.cpu_seconds),
            (Resource::Fsize, self.file_bytes),
        ];
        for (resource, most) in others {
            if let Some(most) = most {
                lower(resource, most)?;
            }
        }
        Ok(())
    }
}

/// A core dump would hold whatever was in memory.
pub(crate) fn no_core() -> Result<(), WallError> {
    lower(Resource::Core, 0)
}

/// Both the soft and the hard one, so that it cannot be raised again; never above what was.
fn lower(resource: Resource, most: u64) -> Result<(), WallError> {
    let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
        .map_err(WallError::system(Wall::Limits))
}
