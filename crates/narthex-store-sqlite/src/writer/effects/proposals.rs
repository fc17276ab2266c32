//! Proposals: opened by agents, decided by the owner, each exactly once.

use narthex_core::{
    Author, ChangeAction, EntityType, PageDraft, PageId, Proposal, ProposalId, ProposalStatus,
    Provenance, RevisionId, Timestamp,
};
use narthex_store::{Effected, Refused};
use sqlx::SqliteConnection;

use super::page_rows::{self, Current, Stamp};
use super::space_number;
use crate::fault::Fault;
use crate::readers::PROPOSAL_BY_ID;
use crate::rows::{self, Fields};

/// Puts a proposal into the inbox, if the agent has room there and the page is in its space.
pub(super) async fn open(
    conn: &mut SqliteConnection,
    proposal: &Proposal,
    cap: u32,
) -> Result<Effected, Fault> {
    let space = space_number(conn, proposal.space).await?;
    must_be_possible(conn, space, proposal).await?;
    let pending: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM proposals WHERE agent = ?1 AND status = 'pending'",
    )
    .bind(proposal.agent.as_bytes().as_slice())
    .fetch_one(&mut *conn)
    .await?;
    if pending >= i64::from(cap) {
        return Err(Refused::TooManyOpen { cap }.into());
    }
    insert(conn, space, proposal).await?;
    Ok(Effected::Done)
}

/// The parts a proposal needs are there. Nothing but a page can be proposed: a conversation
/// belongs to no space.
async fn must_be_possible(
    conn: &mut SqliteConnection,
    space: i64,
    proposal: &Proposal,
) -> Result<(), Fault> {
    let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM agents WHERE id = ?1)")
        .bind(proposal.agent.as_bytes().as_slice())
        .fetch_one(&mut *conn)
        .await?;
    if !known {
        return Err(Refused::NotFound("agent").into());
    }
    if proposal.entity_type != EntityType::Page {
        return Err(Refused::NotFound("conversation").into());
    }
    if proposal.action != ChangeAction::Delete && proposal.draft.is_none() {
        return Err(Refused::NotFound("draft").into());
    }
    if proposal.action != ChangeAction::Create {
        let (page, _) = page_and_base(proposal)?;
        if Current::by_id(conn, space, page).await?.is_none() {
            return Err(Refused::NotFound("page").into());
        }
    }
    Ok(())
}

async fn insert(conn: &mut SqliteConnection, space: i64, proposal: &Proposal) -> Result<(), Fault> {
    let draft = proposal.draft.as_ref();
    sqlx::query(
        "INSERT INTO proposals (id, agent, space, entity_type, action, page, base_revision, slug,
                                title, body, tags, reason, taint_private, taint_untrusted, status,
                                created)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'pending', ?15)",
    )
    .bind(proposal.id.as_bytes().as_slice())
    .bind(proposal.agent.as_bytes().as_slice())
    .bind(space)
    .bind(proposal.entity_type.as_str())
    .bind(proposal.action.as_str())
    .bind(proposal.page.as_ref().map(|page| page.as_bytes().as_slice()))
    .bind(proposal.base_revision.map(i64::from))
    .bind(draft.map(|draft| draft.slug.as_str()))
    .bind(draft.map(|draft| draft.title.as_str()))
    .bind(draft.map(|draft| draft.body.as_str()))
    .bind(draft.map(|draft| page_rows::json(&draft.tags)))
    .bind(proposal.reason.as_str())
    .bind(proposal.taint.private)
    .bind(proposal.taint.untrusted)
    .bind(proposal.created.as_millis())
    .execute(conn)
    .await?;
    Ok(())
}

/// Carries a pending proposal out. What it writes remembers whose it was.
pub(super) async fn apply(
    conn: &mut SqliteConnection,
    id: ProposalId,
    new_page: PageId,
    revision: RevisionId,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let proposal = undecided(conn, id, &[ProposalStatus::Pending]).await?;
    if proposal.entity_type != EntityType::Page {
        return Err(Refused::NotFound("page").into());
    }
    let space = space_number(conn, proposal.space).await?;
    let provenance = Provenance {
        author: Author::Agent(proposal.agent),
        proposal: Some(id),
        taint: proposal.taint,
    };
    let by = Stamp { revision, provenance, at };
    let effected = match proposal.action {
        ChangeAction::Create => {
            let draft = draft_of(&proposal)?;
            let revision = page_rows::insert(conn, space, new_page, draft, &by).await?;
            Effected::PageWritten { page: new_page, revision }
        }
        ChangeAction::Update => {
            let page = page_of(conn, space, &proposal).await?;
            let draft = draft_of(&proposal)?;
            let revision = page_rows::revise(conn, &page, draft, &by).await?;
            Effected::PageWritten { page: page.id, revision }
        }
        ChangeAction::Delete => {
            let page = page_of(conn, space, &proposal).await?;
            page_rows::remove(conn, &page, &by).await?;
            Effected::PageDeleted { page: page.id }
        }
    };
    decide(conn, id, ProposalStatus::Applied, None, at).await?;
    Ok(effected)
}

/// Says no.
pub(super) async fn reject(
    conn: &mut SqliteConnection,
    id: ProposalId,
    note: &str,
    at: Timestamp,
) -> Result<Effected, Fault> {
    undecided(conn, id, &[ProposalStatus::Pending, ProposalStatus::Conflict]).await?;
    decide(conn, id, ProposalStatus::Rejected, Some(note), at).await?;
    Ok(Effected::Done)
}

/// Notes that it could not be applied.
pub(super) async fn mark_conflict(
    conn: &mut SqliteConnection,
    id: ProposalId,
    note: &str,
    at: Timestamp,
) -> Result<Effected, Fault> {
    undecided(conn, id, &[ProposalStatus::Pending]).await?;
    decide(conn, id, ProposalStatus::Conflict, Some(note), at).await?;
    Ok(Effected::Done)
}

/// The proposal, if it is in one of these states.
async fn undecided(
    conn: &mut SqliteConnection,
    id: ProposalId,
    open: &[ProposalStatus],
) -> Result<Proposal, Fault> {
    let row = sqlx::query(PROPOSAL_BY_ID)
        .bind(id.as_bytes().as_slice())
        .fetch_optional(conn)
        .await?
        .ok_or(Fault::Refused(Refused::NotFound("proposal")))?;
    let proposal = rows::proposal(Fields(&row))?;
    if open.contains(&proposal.status) {
        Ok(proposal)
    } else {
        Err(Refused::AlreadyDecided(proposal.status).into())
    }
}

async fn decide(
    conn: &mut SqliteConnection,
    id: ProposalId,
    status: ProposalStatus,
    note: Option<&str>,
    at: Timestamp,
) -> Result<(), Fault> {
    sqlx::query("UPDATE proposals SET status = ?2, note = ?3, decided = ?4 WHERE id = ?1")
        .bind(id.as_bytes().as_slice())
        .bind(status.as_str())
        .bind(note)
        .bind(at.as_millis())
        .execute(conn)
        .await?;
    Ok(())
}

/// The page a proposal is about, where and as it was when the proposal was made.
async fn page_of(
    conn: &mut SqliteConnection,
    space: i64,
    proposal: &Proposal,
) -> Result<Current, Fault> {
    let (page, base) = page_and_base(proposal)?;
    if let Some(current) = Current::by_id(conn, space, page).await? {
        return current.at(base);
    }
    let elsewhere: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM pages WHERE id = ?1)")
        .bind(page.as_bytes().as_slice())
        .fetch_one(conn)
        .await?;
    Err(if elsewhere { Refused::PageLeft } else { Refused::NotFound("page") }.into())
}

fn page_and_base(proposal: &Proposal) -> Result<(PageId, u32), Fault> {
    proposal.page.zip(proposal.base_revision).ok_or(Fault::Refused(Refused::NotFound("page")))
}

fn draft_of(proposal: &Proposal) -> Result<&PageDraft, Fault> {
    proposal.draft.as_ref().ok_or(Fault::Refused(Refused::NotFound("draft")))
}
