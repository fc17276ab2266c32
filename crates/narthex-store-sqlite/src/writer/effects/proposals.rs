//! Proposals: opened by agents, decided by the owner, each exactly once.

use narthex_core::{
    Author, ChangeAction, EntityType, PageDraft, PageId, Proposal, ProposalId, ProposalStatus,
    Provenance, RevisionId, Timestamp,
};
use narthex_store::{Effected, Refused, RowKey};
use sqlx::SqliteConnection;

use super::page_rows::{self, Current, Stamp};
use super::space_number;
use crate::fault::Fault;
use crate::gate::Bench;
use crate::proposal_mac;
use crate::readers::{PROPOSAL_BY_ID, PROPOSALS_UNSEALED};
use crate::rows::{self, Fields};

/// Puts a proposal into the inbox, if the agent has room there and the page is in its space.
pub(super) async fn open(
    bench: &mut Bench<'_>,
    proposal: &Proposal,
    cap: u32,
) -> Result<Effected, Fault> {
    let conn = &mut *bench.conn;
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
    insert(conn, bench.key, space, proposal).await?;
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

async fn insert(
    conn: &mut SqliteConnection,
    key: &RowKey,
    space: i64,
    proposal: &Proposal,
) -> Result<(), Fault> {
    let as_opened =
        Proposal { status: ProposalStatus::Pending, note: None, decided: None, ..proposal.clone() };
    let draft = proposal.draft.as_ref();
    sqlx::query(
        "INSERT INTO proposals (id, agent, space, entity_type, action, page, base_revision, slug,
                                title, body, tags, reason, taint_private, taint_untrusted, status,
                                created, mac)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'pending', ?15,
                 ?16)",
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
    .bind(proposal_mac::of(key, &as_opened).as_bytes().as_slice())
    .execute(conn)
    .await?;
    Ok(())
}

/// Carries a pending proposal out. What it writes remembers whose it was.
pub(super) async fn apply(
    bench: &mut Bench<'_>,
    id: ProposalId,
    new_page: PageId,
    revision: RevisionId,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let proposal = undecided(bench, id, &[ProposalStatus::Pending]).await?;
    let conn = &mut *bench.conn;
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
    decide(bench, proposal, ProposalStatus::Applied, None, at).await?;
    Ok(effected)
}

/// Says no.
pub(super) async fn reject(
    bench: &mut Bench<'_>,
    id: ProposalId,
    note: &str,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let proposal =
        undecided(bench, id, &[ProposalStatus::Pending, ProposalStatus::Conflict]).await?;
    decide(bench, proposal, ProposalStatus::Rejected, Some(note), at).await?;
    Ok(Effected::Done)
}

/// Notes that it could not be applied.
pub(super) async fn mark_conflict(
    bench: &mut Bench<'_>,
    id: ProposalId,
    note: &str,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let proposal = undecided(bench, id, &[ProposalStatus::Pending]).await?;
    decide(bench, proposal, ProposalStatus::Conflict, Some(note), at).await?;
    Ok(Effected::Done)
}

/// The proposal, if it is in one of these states.
async fn undecided(
    bench: &mut Bench<'_>,
    id: ProposalId,
    open: &[ProposalStatus],
) -> Result<Proposal, Fault> {
    let row = sqlx::query(PROPOSAL_BY_ID)
        .bind(id.as_bytes().as_slice())
        .fetch_optional(&mut *bench.conn)
        .await?
        .ok_or(Fault::Refused(Refused::NotFound("proposal")))?;
    let proposal = proposal_mac::read(Fields(&row), bench.key)?;
    if open.contains(&proposal.status) {
        Ok(proposal)
    } else {
        Err(Refused::AlreadyDecided(proposal.status).into())
    }
}

async fn decide(
    bench: &mut Bench<'_>,
    proposal: Proposal,
    status: ProposalStatus,
    note: Option<&str>,
    at: Timestamp,
) -> Result<(), Fault> {
    let note = note.map(ToOwned::to_owned);
    let decided = Proposal { status, note, decided: Some(at), ..proposal };
    sqlx::query(
        "UPDATE proposals SET status = ?2, note = ?3, decided = ?4, mac = ?5 WHERE id = ?1",
    )
    .bind(decided.id.as_bytes().as_slice())
    .bind(status.as_str())
    .bind(decided.note.as_deref())
    .bind(at.as_millis())
    .bind(proposal_mac::of(bench.key, &decided).as_bytes().as_slice())
    .execute(&mut *bench.conn)
    .await?;
    Ok(())
}

/// Puts the MAC on proposals from before there was one. A row that does not even parse gets none,
/// and is damage from then on.
pub(in crate::writer) async fn seal_all(bench: &mut Bench<'_>) -> Result<(), Fault> {
    let mut after = Vec::new();
    loop {
        let rows = sqlx::query(PROPOSALS_UNSEALED)
            .bind(after.as_slice())
            .fetch_all(&mut *bench.conn)
            .await?;
        for row in &rows {
            after = Fields(row).get::<&[u8]>("id")?.to_vec();
            let Ok(proposal) = rows::proposal(Fields(row)) else { continue };
            sqlx::query("UPDATE proposals SET mac = ?2 WHERE id = ?1")
                .bind(after.as_slice())
                .bind(proposal_mac::of(bench.key, &proposal).as_bytes().as_slice())
                .execute(&mut *bench.conn)
                .await?;
        }
        if rows.is_empty() {
            return Ok(());
        }
    }
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
