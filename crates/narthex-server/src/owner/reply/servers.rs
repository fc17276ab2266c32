//! Other people's servers.

use narthex_core::{DefinitionName, Digest, Slug, Tier};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What comes back about servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "is", content = "value", rename_all = "snake_case")]
pub enum ServerReply {
    /// All of it is on or off now.
    Switched(ServersSwitched),
    /// The servers in the file.
    Servers(ServersListed),
    /// One server.
    Server(Box<ServerDetail>),
    /// What a server offers.
    Offer(Box<OfferShown>),
    /// What was approved changed.
    Approved(ApprovedNow),
    /// What an agent would see.
    Seen(Box<ServerSeen>),
    /// What its processes said.
    Logs(Vec<ServerLog>),
    /// What a tool answered.
    Answer(Value),
    /// The port that a browser should come back to, if the file says one.
    ComesBackTo(Option<u16>),
    /// A sign-in was begun.
    SignIn(SignInBegun),
    /// Who is signed in.
    SignedIn(SignedInNow),
    /// The profiles.
    Profiles(Vec<ProfileShown>),
}

/// A sign-in that was begun.
#[derive(Clone, Serialize, Deserialize)]
pub struct SignInBegun {
    /// To which server.
    pub server: String,
    /// Who will ask.
    pub issuer: String,
    /// Where the browser goes.
    pub url: String,
}

/// Without the address: it is for the owner's browser.
impl std::fmt::Debug for SignInBegun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInBegun").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Who is signed in, or no longer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SignedInNow {
    /// To which server.
    pub server: String,
    /// Whether.
    pub signed_in: bool,
    /// By whom.
    pub issuer: Option<String>,
    /// Whether it lasts without the owner.
    pub renews: bool,
    /// Whether that is new.
    pub changed: bool,
}

/// On or off.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServersSwitched {
    /// Which.
    pub on: bool,
    /// Whether that is new.
    pub changed: bool,
    /// The file that names servers.
    pub file: String,
}

/// The servers in the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServersListed {
    /// The file.
    pub file: String,
    /// The servers.
    pub servers: Vec<ServerShown>,
    /// What the owner should know about the file.
    pub warnings: Vec<String>,
}

/// A server in a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerShown {
    /// Its name.
    pub name: String,
    /// `stdio` or `http`.
    pub kind: String,
    /// idle, connecting, connected or error.
    pub state: String,
    /// Why, where it failed.
    pub error: Option<String>,
    /// Whether its start is approved: `no`, `yes`, or that it was before it was `disabled`.
    pub start: String,
    /// How many of its definitions are approved.
    pub approved: usize,
    /// How many it was seen to offer that are not, if it was seen.
    pub waiting: Option<usize>,
    /// The profiles that have it.
    pub profiles: Vec<Slug>,
}

/// A server, whole.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerDetail {
    /// As it is listed.
    pub server: ServerShown,
    /// What would be started.
    pub start: StartShown,
    /// Why it cannot be started as it stands, if so.
    pub trouble: Option<String>,
    /// What was approved of it.
    pub definitions: Vec<DefinitionName>,
    /// Whether it keeps nothing of one agent for another.
    pub stateless: bool,
    /// What it is held to, in words.
    pub limits: Vec<(String, String)>,
    /// What its tools are taken for, unless something else is said of one.
    pub tier: Tier,
}

/// What would be started, for a person to approve.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StartShown {
    /// The command with its arguments, or the URL, as the file has it.
    pub line: String,
    /// The program that is.
    pub program: Option<String>,
    /// What is in its file.
    pub sha256: Option<Digest>,
    /// Other files that run: an interpreter, a script.
    pub also: Vec<(String, Digest)>,
    /// Where it is started.
    pub cwd: Option<String>,
    /// The names of its variables, or of what is sent along.
    pub names: Vec<String>,
    /// How we prove who we are, of a server at a URL.
    pub auth: Option<String>,
    /// Inside which walls, in words.
    pub walls: String,
    /// What the approval does not cover.
    pub uncovered: Option<String>,
    /// What the approval is for.
    pub digest: Option<Digest>,
    /// `approved`, `changed` or `new`.
    pub stands: String,
    /// What is different from what was approved.
    pub diff: Option<String>,
}

/// What a server offers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfferShown {
    /// Whose.
    pub server: String,
    /// The revision it speaks.
    pub revision: String,
    /// Each definition.
    pub definitions: Vec<DefinitionShown>,
    /// What it offers that cannot be taken at all.
    pub refused: Vec<FindingShown>,
    /// What was approved and is offered no more.
    pub gone: Vec<DefinitionName>,
}

/// A definition that is offered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DefinitionShown {
    /// Its name.
    pub name: DefinitionName,
    /// What an approval of it is for.
    pub digest: Digest,
    /// `approved`, `changed` or `new`.
    pub stands: String,
    /// What it says of itself, bounded and with everything visible.
    pub description: String,
    /// All of it, with everything visible.
    pub text: String,
    /// What is different from what was approved.
    pub diff: Option<String>,
    /// What was found in it.
    pub findings: Vec<FindingShown>,
    /// Whether it is approved only by name.
    pub quarantined: bool,
    /// Why it cannot be approved at all.
    pub barred: Option<String>,
}

/// Something that was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FindingShown {
    /// What.
    pub code: String,
    /// How grave.
    pub severity: String,
    /// Where.
    pub place: String,
    /// The text, made visible.
    pub text: String,
}

/// What is approved now.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovedNow {
    /// Of which server.
    pub server: String,
    /// Whether its start is.
    pub start: bool,
    /// How many definitions are.
    pub definitions: usize,
    /// Whether it is switched off.
    pub disabled: bool,
    /// Whether anything is different than before.
    pub changed: bool,
}

/// What an agent would see of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerSeen {
    /// Which server.
    pub server: String,
    /// Where agents reach it.
    pub path: String,
    /// The revision it speaks.
    pub revision: String,
    /// Its tools.
    pub tools: Vec<ToolSeen>,
    /// Its resources and templates.
    pub resources: Vec<String>,
    /// Its prompts.
    pub prompts: Vec<String>,
    /// What is approved and not shown, with why.
    pub left_out: Vec<(String, String)>,
    /// What it offers that waits for approval.
    pub waiting: Vec<DefinitionName>,
}

/// A tool as an agent would see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolSeen {
    /// Its name.
    pub name: String,
    /// What it is taken for.
    pub tier: Tier,
    /// What it is told to do, in short.
    pub description: String,
}

/// What a process said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerLog {
    /// Whose connection it was: `owner`, `everyone`, or an agent's slug.
    pub whose: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// A profile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProfileShown {
    /// Its name.
    pub name: Slug,
    /// Its servers.
    pub servers: Vec<String>,
    /// The agents that have it.
    pub agents: Vec<Slug>,
    /// Whether it is in the file; if not, it gives nothing.
    pub known: bool,
}
