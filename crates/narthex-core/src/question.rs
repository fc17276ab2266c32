//! What policy is asked.

use serde::{Deserialize, Serialize};

use crate::{
    BranchName, Capability, ChangeAction, DefinitionName, EntityType, GraphId, Slug, SpaceId,
};

/// The actions policy knows. A new tool names one of them, or adds one here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyAction {
    /// Full-text search.
    Search,
    /// Read one thing.
    Read,
    /// Look around the space.
    Context,
    /// Propose that something be made.
    Create,
    /// Propose that something be changed.
    Update,
    /// Propose that something be taken away.
    Delete,
    /// Call a stored query of a graph; what the query itself does is asked for as well.
    InvokeQuery,
    /// Change rows of a graph.
    Change,
    /// Give a graph's branch another schema.
    SchemaApply,
    /// Make a branch.
    BranchCreate,
    /// Take a branch away.
    BranchDelete,
    /// Bring one branch into another.
    BranchMerge,
    /// Ask an upstream server for something: a tool, a resource, a prompt. How far that goes is
    /// its tier's to say.
    UseServer,
    /// Run a program. What it calls is asked about call by call.
    RunCode,
}

impl PolicyAction {
    /// Every action.
    pub const ALL: [Self; 14] = [
        Self::Search,
        Self::Read,
        Self::Context,
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::InvokeQuery,
        Self::Change,
        Self::SchemaApply,
        Self::BranchCreate,
        Self::BranchDelete,
        Self::BranchMerge,
        Self::UseServer,
        Self::RunCode,
    ];

    /// The word in policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Context => "context",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::InvokeQuery => "invoke_query",
            Self::Change => "change",
            Self::SchemaApply => "schema_apply",
            Self::BranchCreate => "branch_create",
            Self::BranchDelete => "branch_delete",
            Self::BranchMerge => "branch_merge",
            Self::UseServer => "use_server",
            Self::RunCode => "run_code",
        }
    }

    /// The capability it falls under.
    pub const fn capability(self) -> Capability {
        match self {
            Self::Search
            | Self::Read
            | Self::Context
            | Self::InvokeQuery
            | Self::UseServer
            | Self::RunCode => Capability::Read,
            Self::Create
            | Self::Update
            | Self::Delete
            | Self::Change
            | Self::SchemaApply
            | Self::BranchCreate
            | Self::BranchDelete
            | Self::BranchMerge => Capability::Suggest,
        }
    }
}

impl From<ChangeAction> for PolicyAction {
    fn from(action: ChangeAction) -> Self {
        match action {
            ChangeAction::Create => Self::Create,
            ChangeAction::Update => Self::Update,
            ChangeAction::Delete => Self::Delete,
            ChangeAction::Merge => Self::BranchMerge,
            ChangeAction::Enable => Self::UseServer,
        }
    }
}

/// What it is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// Something in a space.
    Space(SpaceId),
    /// Something that belongs to the house and to no space.
    House,
    /// A graph.
    Graph(Box<GraphTarget>),
    /// An upstream server.
    Server(Box<ServerTarget>),
}

/// An upstream server, and what of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerTarget {
    /// Its name.
    pub name: Slug,
    /// Whether a profile of the asker's has it: the owner's own word, never a request's.
    pub assigned: bool,
    /// What is asked for; none where it could be anything.
    pub what: Option<DefinitionName>,
}

/// A graph, and what of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GraphTarget {
    /// The graph.
    pub graph: GraphId,
    /// Its slug.
    pub slug: Slug,
    /// The space it lives in.
    pub space: SpaceId,
    /// The branch it is done on, where there is one.
    pub branch: BranchAsk,
    /// The branch that is merged into.
    pub into: BranchAsk,
    /// The stored query.
    pub query: Option<String>,
}

/// Which branch a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BranchAsk {
    /// None: it is about the graph as a whole.
    None,
    /// Some branch or other: permitted unless it is denied for every one. For lists.
    Any,
    /// This one.
    This(BranchShape),
}

/// A branch as policy sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BranchShape {
    /// Its name.
    pub name: BranchName,
    /// Whether it is protected.
    pub protected: bool,
    /// Whether it is the asker's own.
    pub own: bool,
}

/// One question to policy. Who asks comes with it from the gate, never from the request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Question {
    /// What would be done.
    pub action: PolicyAction,
    /// To what kind of thing.
    pub entity_type: EntityType,
    /// Where.
    pub target: Target,
}
