//! Answers on their way into a worker. Bytes stay here until they are fetched.

use std::collections::VecDeque;

use narthex_core::RunAnswer;
use serde_json::value::to_raw_value;

use crate::wire::{Answer, BinaryMark};

/// The bytes of a run's answers, as base64: the latest ones, up to so much of them.
#[derive(Debug)]
pub(super) struct Binaries {
    most: usize,
    kept: VecDeque<String>,
    bytes: usize,
    /// How many are not kept any more.
    gone: u32,
}

impl Binaries {
    pub(super) const fn new(most: usize) -> Self {
        Self { most, kept: VecDeque::new(), bytes: 0, gone: 0 }
    }

    /// The bytes a worker asks for, if there were such and they are still kept.
    pub(super) fn get(&self, binary: u32) -> Result<Option<String>, NeverWere> {
        let Some(place) = binary.checked_sub(self.gone) else { return Ok(None) };
        let kept = usize::try_from(place).ok().and_then(|place| self.kept.get(place));
        kept.map(|base64| Some(base64.clone())).ok_or(NeverWere)
    }

    fn keep(&mut self, base64: &str) -> Option<u32> {
        self.bytes += base64.len();
        self.kept.push_back(base64.to_owned());
        while self.bytes > self.most
            && self.kept.len() > 1
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes -= oldest.len();
            self.gone += 1;
        }
        self.gone.checked_add(u32::try_from(self.kept.len()).ok()?)?.checked_sub(1)
    }

    /// An answer as it goes through the pipe.
    pub(super) fn wire(&mut self, answer: &RunAnswer) -> Option<Answer> {
        match answer {
            RunAnswer::Thrown(thrown) => Some(Answer::Thrown(thrown.clone())),
            RunAnswer::Value { value, binaries } => {
                let mut marks = Vec::with_capacity(binaries.len());
                for bytes in binaries {
                    marks.push(BinaryMark {
                        at: bytes.at.clone(),
                        mime: bytes.mime.clone(),
                        size: size(&bytes.base64),
                        binary: self.keep(&bytes.base64)?,
                    });
                }
                Some(Answer::Value { value: to_raw_value(value).ok()?, binaries: marks })
            }
        }
    }
}

/// A worker asks for bytes that no answer had.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NeverWere;

/// How many bytes a base64 text stands for.
pub(crate) fn size(base64: &str) -> u64 {
    let text = base64.trim_end_matches('=');
    u64::try_from(text.len()).unwrap_or(u64::MAX) / 4 * 3
        + match text.len() % 4 {
            2 => 1,
            3 => 2,
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{Binaries, NeverWere, size};

    #[test]
    fn the_latest_bytes_are_kept_and_those_before_them_are_known_to_be_gone() {
        let mut binaries = Binaries::new(10);
        assert_eq!(binaries.get(0), Err(NeverWere));
        for (n, base64) in ["aaaa", "bbbb", "cccc", "dddddddddddd"].into_iter().enumerate() {
            assert_eq!(binaries.keep(base64), u32::try_from(n).ok());
            assert_eq!(binaries.get(u32::try_from(n).unwrap_or(0)), Ok(Some(base64.to_owned())));
        }
        for n in 0..3 {
            assert_eq!(binaries.get(n), Ok(None), "{n}");
        }
        assert_eq!((binaries.get(4), binaries.bytes), (Err(NeverWere), 12));
    }

    #[test]
    fn bytes_are_counted_without_being_decoded() {
        for n in 0..40 {
            assert_eq!(size(&STANDARD.encode(vec![7; n])), n as u64);
        }
    }
}
