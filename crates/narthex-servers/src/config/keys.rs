//! Keys of other clients: taken without complaint, and never obeyed.

/// Beside the servers.
pub(super) const BESIDE_SERVERS: &[(&str, &str)] = &[
    ("$schema", "the file is checked by Narthex itself"),
    ("gallery", "only you add servers"),
    ("inputs", "nobody is asked for values; export variables and write ${NAME}"),
    ("sandbox", "say `walls` with each server"),
    ("version", "there is one format"),
];

/// In a server.
pub(super) const IN_SERVER: &[(&str, &str)] = &[
    ("alwaysAllow", "what may be called without asking is decided by `tools`, and recorded"),
    ("autoApprove", "what may be called without asking is decided by `tools`, and recorded"),
    ("description", "what is known of a server is what it says itself, once you approved it"),
    ("dev", "servers are not restarted when their source changes"),
    ("disabledTools", "name them in `denyTools`"),
    ("envFile", "variables come from the environment of Narthex, or from ${file:…}"),
    ("gallery", "only you add servers"),
    ("icon", "it is not shown"),
    ("sandboxEnabled", "say `walls`"),
    ("timeout", "say `limits.callSeconds`"),
    ("trust", "what may be called without asking is decided by `tools`, and recorded"),
    ("version", "there is one format"),
];
