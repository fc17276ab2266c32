//! What a command knows before it starts: where the house is, its settings, how to answer.

use std::path::PathBuf;

use crate::cli::Globals;
use crate::config::{Config, env};
use crate::failure::Failure;
use crate::output::Output;

/// What a command knows before it starts.
#[derive(Debug, Clone)]
pub struct Context {
    /// The folder the house lives in; it may not exist yet.
    pub data_dir: PathBuf,
    /// Whether someone named that folder, on the command line or in the environment.
    pub data_dir_named: bool,
    /// The settings.
    pub config: Config,
    /// The file they came from, if there is one.
    pub config_file: Option<PathBuf>,
    /// How to answer.
    pub output: Output,
    /// How much to say on standard error.
    pub verbose: u8,
}

impl Context {
    /// Finds the house and reads its settings.
    pub fn load(globals: &Globals) -> Result<Self, Failure> {
        let found = Self::unread(globals)?;
        match found.config_file.clone() {
            Some(file) => Ok(Self { config: Config::load(&file)?, ..found }),
            None => Ok(found),
        }
    }

    /// Finds the house and leaves its settings alone: for what must work when they are broken.
    pub fn unread(globals: &Globals) -> Result<Self, Failure> {
        let named = globals.data_dir.clone();
        let data_dir_named = named.is_some();
        let data_dir = named.map_or_else(env::default_data_dir, Ok)?;
        let beside = Some(data_dir.join("narthex.toml")).filter(|file| file.exists());
        Ok(Self {
            data_dir,
            data_dir_named,
            config: Config::default(),
            config_file: globals.config.clone().or(beside),
            output: globals.output,
            verbose: globals.verbose,
        })
    }

    /// Settings of the demo: those of a folder that was named, otherwise none but the defaults.
    pub fn for_demo(globals: &Globals) -> Result<Self, Failure> {
        if globals.data_dir.is_some() || globals.config.is_some() {
            return Self::load(globals);
        }
        Ok(Self { config_file: None, ..Self::unread(globals)? })
    }

    /// Whether answers are JSON.
    pub fn is_json(&self) -> bool {
        self.output == Output::Json
    }
}
