//! What goes through the one pipe between us and a worker: frames of JSON behind their length.
//!
//! What comes from a worker is the word of an engine that may have been taken over: it is bounded,
//! parsed strictly, and believed in nothing.

use narthex_core::Thrown;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// To a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// What to run; the first frame, and there is one.
    Start(Box<Start>),
    /// The answer to a call.
    Reply {
        /// Which one.
        call: u32,
        /// What the clock says from here on, in milliseconds.
        now: i64,
        /// The answer.
        answer: Answer,
    },
    /// The bytes that were fetched.
    Bytes {
        /// Which.
        binary: u32,
        /// As base64; none where they are not kept any more.
        base64: Option<String>,
    },
}

/// A program and what it may use.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    /// The text as it was sent.
    pub(crate) source: String,
    /// What its randomness is made of.
    pub(crate) seed: u64,
    /// What its clock says, in milliseconds.
    pub(crate) now: i64,
    /// The modules it may ask for.
    pub(crate) modules: Vec<ModuleNames>,
    /// What it may use up.
    pub(crate) bounds: Bounds,
}

/// A module as a worker knows it: names alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ModuleNames {
    /// `host:…`.
    pub(crate) name: String,
    /// Its functions, as identifiers.
    pub(crate) functions: Vec<String>,
}

/// What a program may use up, as far as its worker holds it to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// Bytes of heap.
    pub(crate) heap: usize,
    /// Bytes of stack.
    pub(crate) stack: usize,
    /// Milliseconds of its own time.
    pub(crate) script_millis: u64,
    /// Bytes of its result.
    pub(crate) result: usize,
    /// Bytes of what it says.
    pub(crate) console: usize,
}

/// How a call is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// With a value.
    Value {
        /// The value.
        value: Box<RawValue>,
        /// Where in it bytes belong.
        binaries: Vec<BinaryMark>,
    },
    /// With an error.
    Thrown(Thrown),
}

/// Bytes that stay with us until they are fetched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BinaryMark {
    /// Where in the value, as a JSON pointer.
    pub(crate) at: String,
    /// What kind.
    pub(crate) mime: String,
    /// How many.
    pub(crate) size: u64,
    /// What they are fetched by.
    pub(crate) binary: u32,
}

/// From a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// It is shut in and waits.
    Ready,
    /// It could not be shut in, and goes.
    NotLocked {
        /// Why.
        why: String,
    },
    /// The program makes a call.
    Call {
        /// Which one, counted from 0.
        call: u32,
        /// The module, by its place in [`Start::modules`].
        module: u32,
        /// The function, by its place in the module.
        function: u32,
        /// The arguments.
        arguments: Box<RawValue>,
        /// Whether it goes on meanwhile.
        deferred: bool,
    },
    /// The program waits for an answer.
    Waits {
        /// How many it has heard.
        heard: u32,
    },
    /// The program wants bytes.
    Fetch {
        /// Which.
        binary: u32,
    },
    /// The program says something.
    Said {
        /// How loud.
        level: Level,
        /// What.
        text: String,
    },
    /// The program is over. The last frame.
    Done {
        /// How.
        ended: Ended,
        /// Bytes of heap at the end.
        heap: u64,
        /// Microseconds of its own time, as the worker counted them.
        micros: u64,
    },
}

/// How loud something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// `console.log` and its like.
    Log,
    /// `console.warn`.
    Warn,
    /// `console.error`, and what nobody caught.
    Error,
}

/// How a program ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ended {
    /// With a value.
    Value(Box<RawValue>),
    /// With no value.
    Nothing,
    /// With an error that nobody caught.
    Threw(Threw),
    /// It was no program.
    Misshapen {
        /// Where.
        line: u32,
        /// Where.
        column: u32,
        /// What is wrong.
        message: String,
        /// The line.
        excerpt: String,
    },
    /// Its time was over.
    OutOfTime,
    /// Its result is larger than results may be.
    TooLarge {
        /// How large.
        bytes: u64,
    },
    /// It waits for something that never comes.
    Stuck,
}

/// An error that nobody caught.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Threw {
    /// What kind.
    pub(crate) name: String,
    /// What it says.
    pub(crate) message: String,
    /// The stable word, of one that came from a call.
    pub(crate) code: Option<String>,
    /// Where in the text as it was sent.
    pub(crate) at: Option<(u32, u32)>,
}

impl Threw {
    /// What is said where there was no memory for an error.
    pub(crate) fn out_of_memory() -> Self {
        let (name, message) = ("InternalError".to_owned(), "out of memory".to_owned());
        Self { name, message, ..Self::default() }
    }

    /// The same in so many words.
    pub(crate) fn bounded(self) -> Self {
        Self {
            name: cut(self.name, MAX_NAME),
            message: cut(self.message, MAX_MESSAGE),
            code: self.code.map(|code| cut(code, MAX_NAME)),
            at: self.at,
        }
    }

    /// Whether nothing was thrown that says anything.
    pub(crate) fn is_nothing(&self) -> bool {
        self.message == "threw null"
    }
}

/// A frame as it goes through the pipe.
pub(crate) fn framed<T: Serialize>(frame: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = vec![0; HEADER];
    serde_json::to_writer(&mut bytes, frame)?;
    let length = u32::try_from(bytes.len() - HEADER).unwrap_or(u32::MAX);
    if let Some(header) = bytes.first_chunk_mut::<HEADER>() {
        *header = length.to_le_bytes();
    }
    Ok(bytes)
}

/// The text, or its beginning.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

/// Bytes of an error's name, and of its code.
const MAX_NAME: usize = 100;
/// Bytes of what an error says.
pub(crate) const MAX_MESSAGE: usize = 4_000;

/// Bytes of the length before a frame.
pub(crate) const HEADER: usize = 4;

/// Bytes of the longest frame either side sends: an answer of a server, or a result, as JSON.
pub(crate) const MOST: usize = 24 * 1024 * 1024;
