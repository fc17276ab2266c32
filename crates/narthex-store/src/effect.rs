//! Everything that can be changed, as data. One writer carries them out, one at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use narthex_core::{
    Agent, AgentId, Approval, ApprovalId, ApprovalStatus, Budget, Conversation, Engaged, Holder,
    Mode, Moment, PageDraft, PageId, ParkedRun, Proposal, ProposalId, Provenance, RevisionId,
    RunId, ServerStanding, Slug, Space, SpaceId, SwitchScope, Taint, Tier, Timestamp, TokenId,
    TokenLabel, ToolName,
};

use crate::{GraphDone, GraphWrite};

/// One change.
#[derive(Debug, Clone)]
pub enum Effect {
    /// A new space. Refused if its slug is taken.
    AddSpace(Space),
    /// A new page, or a new revision of one.
    WritePage(PageWrite),
    /// Takes a page away; its revisions stay. Refused unless it is at `base`.
    DeletePage {
        /// Where it is.
        space: SpaceId,
        /// Which one.
        page: PageId,
        /// The revision the caller saw.
        base: u32,
        /// The id of the revision that deletes it.
        revision: RevisionId,
        /// Who deletes it.
        provenance: Provenance,
        /// When.
        at: Timestamp,
    },
    /// Moves a page, with its history, to another space. Refused if its slug is taken there.
    MovePage {
        /// Where it is.
        from: SpaceId,
        /// Which one.
        page: PageId,
        /// Where it goes.
        to: SpaceId,
        /// When.
        at: Timestamp,
    },
    /// Writes many pages by slug: new ones are made, changed ones revised, equal ones left alone.
    ImportPages {
        /// Where.
        space: SpaceId,
        /// What.
        pages: Vec<ImportedPage>,
        /// When.
        at: Timestamp,
    },
    /// A new agent. Refused if its slug is taken or its space does not exist.
    AddAgent(Agent),
    /// Switches an agent off or on.
    SetAgentDisabled {
        /// Which one.
        agent: AgentId,
        /// Off or on.
        disabled: bool,
    },
    /// Gives an agent another ceiling.
    SetAgentCeiling {
        /// Which one.
        agent: AgentId,
        /// The highest tier it may reach.
        ceiling: Tier,
    },
    /// Gives an agent a budget of its own, or the house's again. What was used up stays used up.
    SetAgentBudget {
        /// Which one.
        agent: AgentId,
        /// What it may use up.
        budget: Option<Budget>,
    },
    /// Gives a tool another tier for an agent, or the one it declares. Refused past
    /// [`narthex_core::ToolTiers::MOST`].
    SetToolTier {
        /// Which agent.
        agent: AgentId,
        /// Which tool.
        tool: ToolName,
        /// Its tier for that agent.
        tier: Option<Tier>,
    },
    /// Gives a space another ceiling, or none of its own.
    SetSpaceCeiling {
        /// Which one.
        space: SpaceId,
        /// The highest tier allowed in it.
        ceiling: Option<Tier>,
    },
    /// Notes the posture that is in force, so that the next start knows whether it changed.
    NoteMode {
        /// In force.
        mode: Mode,
        /// What the owner chose while it ran, if anything; it can only lower what the settings say.
        chosen: Option<Mode>,
    },
    /// Turns the servers of others on or off.
    SwitchServers {
        /// On or off.
        on: bool,
    },
    /// What is approved of a server from now on, all of it; blank takes it away. What was noted of
    /// its rules stays.
    SetServer {
        /// Which one.
        name: Slug,
        /// What is approved.
        standing: Box<ServerStanding>,
        /// The definitions in it, as they were when they were approved, to compare others with.
        texts: Vec<String>,
    },
    /// Notes what the owner's file says of a server's tiers and effects. Nothing, if nothing is
    /// approved of it.
    NoteServerRules {
        /// Which one.
        name: Slug,
        /// What the file says, rule by rule.
        rules: BTreeMap<String, String>,
    },
    /// Gives an agent profiles, in the order they are stacked; none takes all servers from it.
    SetProfiles {
        /// Whose.
        agent: AgentId,
        /// Which.
        profiles: Vec<Slug>,
    },
    /// Engages a kill switch. Engaging an engaged one changes nothing.
    EngageSwitch(Engaged),
    /// Lifts a kill switch. Refused if it is not engaged.
    LiftSwitch {
        /// Which one.
        scope: SwitchScope,
    },
    /// Opens a latch.
    ClearLatch {
        /// Whose.
        holder: Holder,
        /// What of it.
        taint: Taint,
        /// Only what was not set again since then: the window that ran out, seen from now.
        ran_out: Option<(Moment, Duration)>,
    },
    /// Puts a request for approval before the owner. If the same call waits already, nothing
    /// changes and that one is the answer. Refused if the agent has `cap` waiting ones.
    RequestApproval {
        /// The request.
        approval: Box<Approval>,
        /// How many may wait.
        cap: u32,
    },
    /// The owner's answer to a waiting request. Refused if it waits no more, or too long.
    DecideApproval {
        /// Which one.
        id: ApprovalId,
        /// What was shown to the owner: another call under the same id is refused.
        digest: narthex_core::Digest,
        /// Yes or no.
        approve: bool,
        /// The owner's words.
        note: Option<String>,
        /// When.
        at: Moment,
    },
    /// A wrong nonce was typed. After `most` of them the request is void.
    WrongNonce {
        /// For which request.
        id: ApprovalId,
        /// How many may be typed.
        most: u32,
    },
    /// Keeps a run until the owner has decided. Those of the agent whose time is over go. Refused if
    /// the agent has `cap` others.
    ParkRun {
        /// The run.
        run: Box<ParkedRun>,
        /// How many may wait.
        cap: u32,
        /// Now.
        now: Timestamp,
    },
    /// Takes a parked run up: it is there no more. Refused if it is not there, or not the holder's.
    TakeUpRun {
        /// Which one.
        id: RunId,
        /// Whose.
        holder: Holder,
    },
    /// Takes all records up to this one out of the ledger; a signed base stands for them. Refused
    /// unless it ends a full stretch that is there, is not the last record, and no open call's
    /// intent is among them. Whoever asks has made a durable copy first.
    PruneLedger {
        /// The last that goes.
        to: u64,
    },
    /// A new token. Refused for the companion, which has none.
    AddToken {
        /// Its public id.
        id: TokenId,
        /// Whose.
        agent: AgentId,
        /// What the owner calls it.
        label: TokenLabel,
        /// The keyed hash of its secret.
        keyed_hash: [u8; 32],
        /// When it was made.
        created: Timestamp,
        /// When it ends by itself.
        expires: Option<Timestamp>,
    },
    /// Ends a token. Ending an ended one changes nothing.
    RevokeToken {
        /// Which one.
        id: TokenId,
        /// When.
        at: Timestamp,
    },
    /// A new conversation.
    AddConversation(Conversation),
    /// A new proposal. Refused if the agent has `cap` pending ones already, if the page or the graph
    /// it names is not in its space, if a branch to be merged stands elsewhere than it says, or if
    /// the agent asks for the same server already.
    OpenProposal {
        /// The proposal.
        proposal: Box<Proposal>,
        /// How many may wait.
        cap: u32,
    },
    /// Carries out a pending proposal, exactly once. Refused as stale or left when the page
    /// moved on since the proposal was made.
    ApplyProposal {
        /// Which one.
        id: ProposalId,
        /// The id of the page it makes, if it makes one.
        new_page: PageId,
        /// The id of the revision it makes.
        revision: RevisionId,
        /// When.
        at: Timestamp,
    },
    /// Carries out a proposed merge, exactly once: one that waits, or that was in conflict. Refused
    /// when the branch that is brought in is no longer what was proposed, and when the one it is
    /// brought into moved since the merge was made ready.
    ApplyMerge {
        /// Which one.
        id: ProposalId,
        /// The merge, onto the line of the branch it is brought into. None where that has seen all
        /// of it already: refused if it has not.
        write: Option<Box<GraphWrite>>,
        /// When.
        at: Timestamp,
    },
    /// Says yes to an agent that asks for a server, exactly once: where the server was disabled it is
    /// so no more. Refused unless its start and something of what it offers are approved.
    ApplyServerRequest {
        /// Which one.
        id: ProposalId,
        /// When.
        at: Timestamp,
    },
    /// Says no to a pending or conflicting proposal.
    RejectProposal {
        /// Which one.
        id: ProposalId,
        /// Why, for the agent to read.
        note: String,
        /// When.
        at: Timestamp,
    },
    /// Notes that a pending proposal could not be applied; both texts are kept. Of a merge in
    /// conflict the note is replaced.
    MarkConflict {
        /// Which one.
        id: ProposalId,
        /// With what.
        note: String,
        /// When.
        at: Timestamp,
    },
    /// A change to a graph.
    Graph(Box<GraphWrite>),
}

/// A page to be written.
#[derive(Debug, Clone)]
pub struct PageWrite {
    /// The page. A new one if `base` is none.
    pub page: PageId,
    /// Where.
    pub space: SpaceId,
    /// What it says.
    pub draft: PageDraft,
    /// The revision the caller saw; none makes a new page.
    pub base: Option<u32>,
    /// The id of the new revision.
    pub revision: RevisionId,
    /// Who wrote it.
    pub provenance: Provenance,
    /// When.
    pub at: Timestamp,
}

/// One page of an import.
#[derive(Debug, Clone)]
pub struct ImportedPage {
    /// The id it gets if it is new.
    pub page: PageId,
    /// The id of the revision it makes.
    pub revision: RevisionId,
    /// What it says.
    pub draft: PageDraft,
}

/// What became of one imported page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It is new.
    Created,
    /// It was there and said something else.
    Updated,
    /// It was there and said the same.
    Unchanged,
}

/// What an effect brought about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effected {
    /// Done; nothing more to say.
    Done,
    /// A page was written.
    PageWritten {
        /// Which one.
        page: PageId,
        /// Its revision now.
        revision: u32,
    },
    /// A page was deleted.
    PageDeleted {
        /// Which one.
        page: PageId,
    },
    /// Pages were imported, in the order given.
    Imported(Vec<ImportOutcome>),
    /// A token was ended now (false: it had ended before).
    Revoked(bool),
    /// Something changed (false: it was so before).
    Changed(bool),
    /// The request for approval that waits now: the given one, or an older one of the same call.
    Waits(Box<Approval>),
    /// What became of a request.
    Approval(ApprovalStatus),
    /// A graph was changed.
    Graph(GraphDone),
}
