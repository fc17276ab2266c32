//! Closed lists of words: read and shown in one way.

/// Not one of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of the words known here")]
pub struct UnknownWord;

macro_rules! words {
    ($($name:ident),+) => {$(
        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;
            fn from_str(text: &str) -> Result<Self, $crate::words::UnknownWord> {
                Self::ALL.into_iter().find(|word| word.as_str() == text).ok_or($crate::words::UnknownWord)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}

pub(crate) use words;
