//! The text of a page or a conversation: from an option, a file, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use narthex_core::Bound;

use crate::cli::TextArgs;
use crate::{Exit, Failure};

/// The text, from wherever it comes; nothing on a terminal where nobody said anything.
pub(super) fn given(args: &TextArgs) -> Result<Option<String>, Failure> {
    match (&args.body, &args.file) {
        (Some(body), _) => Ok(Some(body.clone())),
        (None, Some(file)) if file == Path::new("-") => from(io::stdin(), file).map(Some),
        (None, Some(file)) => {
            let opened = File::open(file).map_err(|error| Failure::file(file, &error))?;
            from(opened, file).map(Some)
        }
        (None, None) if io::stdin().is_terminal() => Ok(None),
        (None, None) => from(io::stdin(), Path::new("standard input")).map(Some),
    }
}

/// The text, which must come from somewhere.
pub(super) fn required(args: &TextArgs) -> Result<String, Failure> {
    given(args)?.ok_or_else(|| {
        Failure::new(Exit::Usage, "there is no text")
            .hint("give it with --body or --file, or pipe it in")
    })
}

/// Read no further than what could be kept.
fn from(source: impl Read, name: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limit = Bound::BODY_BYTES as u64 + 1;
    source.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::file(name, &error))?;
    if bytes.len() > Bound::BODY_BYTES {
        let message = format!("{}: longer than {} bytes", name.display(), Bound::BODY_BYTES);
        return Err(Failure::new(Exit::Usage, message));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(Exit::Usage, format!("{}: not UTF-8", name.display())))
}
