//! What is wrong with a policy.

/// A policy that cannot be put in force.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// It does not parse.
    #[error("{file}: {message}")]
    Syntax {
        /// Which file.
        file: String,
        /// What is wrong.
        message: String,
        /// Where in the file, as bytes from and length.
        span: Option<(usize, usize)>,
    },
    /// It does not fit the schema.
    #[error("{file}: policy {policy}: {message}")]
    Invalid {
        /// Which file.
        file: String,
        /// Which policy.
        policy: String,
        /// What is wrong.
        message: String,
        /// Where in the file, as bytes from and length.
        span: Option<(usize, usize)>,
    },
    /// Two policies of one name.
    #[error("{file}: a policy called {policy} exists already")]
    Doubled {
        /// Which file.
        file: String,
        /// Which policy.
        policy: String,
    },
    /// The schema itself does not load.
    #[error("the policy schema does not load: {0}")]
    Schema(String),
}
