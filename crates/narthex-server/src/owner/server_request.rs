//! What an owner can ask of other people's servers.

use narthex_core::{DefinitionName, Digest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What can be asked of them. While they are off, only to turn them on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ServerRequest {
    /// Turns all of it on or off; off ends every connection.
    Switch {
        /// On or off.
        on: bool,
    },
    /// All servers in the file.
    List,
    /// One server: what would be started, what was approved, how it is.
    Info {
        /// Which.
        server: String,
    },
    /// Approves a start, as it was shown.
    ApproveStart {
        /// Which.
        server: String,
        /// What was shown.
        digest: Digest,
    },
    /// Connects, and shows what it offers beside what was approved.
    Look {
        /// Which.
        server: String,
    },
    /// Approves definitions, as they were shown.
    ApproveDefinitions {
        /// Whose.
        server: String,
        /// Which, and what was shown of each.
        definitions: Vec<(DefinitionName, Digest)>,
    },
    /// Takes approvals back, and ends its connections.
    Revoke {
        /// Whose.
        server: String,
        /// Only of these; all of it, the start included, if none is named.
        definitions: Vec<DefinitionName>,
    },
    /// Switches a server on or off. What was approved stays so.
    Enable {
        /// Which.
        server: String,
        /// On or off.
        on: bool,
    },
    /// Connects, and shows what an agent would see.
    Test {
        /// Which.
        server: String,
        /// Which agent; without one, whoever has the server as the file says.
        agent: Option<String>,
    },
    /// What its processes said on standard error.
    Logs {
        /// Whose.
        server: String,
    },
    /// Calls one of its approved tools.
    Call {
        /// Whose.
        server: String,
        /// Which.
        tool: String,
        /// With what.
        arguments: Map<String, Value>,
    },
    /// Begins a sign-in to a server that wants OAuth.
    SignIn {
        /// To which.
        server: String,
        /// Where the owner's browser comes back to; none to ask which port is wanted.
        redirect: Option<String>,
    },
    /// Ends it with what the browser brought back.
    SignedIn {
        /// To which.
        server: String,
        /// What it brought.
        back: CameBack,
    },
    /// Forgets a sign-in, and ends what was open by it.
    SignOut {
        /// From which.
        server: String,
    },
    /// The profiles in the file, and who has them.
    Profiles,
    /// Gives an agent profiles; none takes all servers from it.
    SetProfiles {
        /// Whom.
        agent: String,
        /// Which.
        profiles: Vec<String>,
    },
}

/// What a browser brought back from a sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub struct CameBack {
    /// What it was given on its way out.
    pub state: String,
    /// What is exchanged for tokens.
    pub code: Option<String>,
    /// Who says so.
    pub issuer: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
}

/// Shows nothing of it.
impl std::fmt::Debug for CameBack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CameBack(…)")
    }
}
