//! Answers on their way into a worker. Bytes stay here until they are fetched.

use narthex_core::RunAnswer;
use serde_json::value::to_raw_value;

use crate::wire::{Answer, BinaryMark};

/// The bytes of a run's answers, as base64.
#[derive(Debug, Default)]
pub(super) struct Binaries(Vec<String>);

impl Binaries {
    /// The bytes a worker asks for.
    pub(super) fn get(&self, binary: u32) -> Option<String> {
        self.0.get(usize::try_from(binary).ok()?).cloned()
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
                        binary: u32::try_from(self.0.len()).ok()?,
                    });
                    self.0.push(bytes.base64.clone());
                }
                Some(Answer::Value { value: to_raw_value(value).ok()?, binaries: marks })
            }
        }
    }
}

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

    use super::size;

    #[test]
    fn bytes_are_counted_without_being_decoded() {
        for n in 0..40 {
            assert_eq!(size(&STANDARD.encode(vec![7; n])), n as u64);
        }
    }
}
