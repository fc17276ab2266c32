//! What a person or a script sees: tables or JSON on standard output, nothing else.

pub mod clean;
pub mod diff;
pub mod table;
mod write;

use clap::ValueEnum;

pub use self::write::{json, json_line, json_lines, note, text};

/// How answers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Output {
    /// Tables and sentences
    #[default]
    #[value(alias = "table")]
    Human,
    /// One JSON document
    Json,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Colour {
    /// Makes it hold for everything this process prints.
    pub fn settle(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}
