//! The text of a schema or a query: given, in a file, or on standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use narthex_server::owner::TextFault;

use super::place::drawn;
use crate::cli::SourceArgs;
use crate::{Exit, Failure};

/// A text and what people know it by.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
}

impl Source {
    /// The text that was given, if one was.
    pub(super) fn given(args: &SourceArgs) -> Result<Option<Self>, Failure> {
        match (&args.text, &args.file) {
            (Some(text), _) => Ok(Some(Self { name: "--text".to_owned(), text: text.clone() })),
            (None, Some(file)) => Self::read(file).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The text, which must be given.
    pub(super) fn required(args: &SourceArgs, what: &str) -> Result<Self, Failure> {
        Self::given(args)?.ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no {what}"))
                .hint("give it with --file, with --file - from standard input, or with --text")
        })
    }

    /// The text of a file; `-` is standard input.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        if file == Path::new("-") {
            return Self::from("standard input".to_owned(), io::stdin());
        }
        let opened = File::open(file).map_err(|error| Failure::file(file, &error))?;
        Self::from(file.display().to_string(), opened)
    }

    /// Read no further than what could be meant.
    fn from(name: String, source: impl Read) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let read = source.take(BYTES as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failure::file(Path::new(&name), &error))?;
        if bytes.len() > BYTES {
            return Err(Failure::new(Exit::Usage, format!("{name}: longer than {BYTES} bytes")));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(_) => Err(Failure::new(Exit::Usage, format!("{name}: not UTF-8"))),
        }
    }

    /// What is wrong with it, each in its place.
    pub(super) fn failure(&self, faults: &[TextFault]) -> Failure {
        let said: Vec<String> =
            faults.iter().enumerate().map(|(n, fault)| self.drawn(n, fault)).collect();
        let failure = Failure::new(Exit::Usage, said.join("\n"));
        match faults.first().and_then(|fault| fault.help.clone()) {
            Some(help) => failure.hint(for_people(&help)),
            None => failure,
        }
    }

    /// What to do about the first is said as the way out.
    fn drawn(&self, n: usize, fault: &TextFault) -> String {
        let help = fault.help.as_deref().filter(|_| n > 0).map(for_people);
        drawn(&self.name, &self.text, &TextFault { help, ..fault.clone() })
    }
}

/// Agents have tools where people have commands.
fn for_people(help: &str) -> String {
    help.replace("graph_mutate", "narthex graph mutate")
        .replace("graph_query", "narthex graph query")
}

/// Bytes of a text that is read: more than any bound on one.
const BYTES: usize = 4 * 1024 * 1024;
