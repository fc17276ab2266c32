//! Proposals: opened by agents, decided by the owner, each exactly once.

use narthex_core::{
    Author, ChangeAction, EntityType, PageDraft, PageId, Proposal, ProposalId, ProposalStatus,
    Provenance, RevisionId, Slug, Timestamp,
};
use narthex_store::{Effected, Refused};
use sqlx::SqliteConnection;

use super::page_rows::{self, Current, Stamp};
use super::{merges, server_requests, space_number};
use crate::fault::Fault;
use crate::gate::Bench;
use crate::matter::{self, Matter, PROPOSAL_BY_ID, proposals};
use crate::rows::{self, Fields};

/// Puts a proposal into the inbox, if the agent has room there and what it is about is in its space.
pub(super) async fn open(
    bench: &mut Bench<'_>,
    proposal: &Proposal,
    cap: u32,
) -> Result<Effected, Fault> {
    let conn = &mut *bench.conn;
    let space = space_number(conn, proposal.space).await?;
    must_be_known(conn, proposal).await?;
    match proposal.entity_type {
        EntityType::Page => must_be_possible(conn, space, proposal).await?,
        EntityType::Graph => merges::must_be_possible(bench, proposal).await?,
        // It belongs to no space.
        EntityType::Conversation => return Err(Refused::NotFound("conversation").into()),
        EntityType::Server => server_requests::must_be_possible(bench, proposal).await?,
        EntityType::Code => return Err(Refused::NotFound("program").into()),
    }
    if waiting(bench, proposal).await? >= usize::try_from(cap).unwrap_or(usize::MAX) {
        return Err(Refused::TooManyOpen { cap }.into());
    }
    insert(bench, space, proposal).await?;
    Ok(Effected::Done)
}

/// How many of the agent's wait. One that was put there from outside stands in nobody's way.
async fn waiting(bench: &mut Bench<'_>, new: &Proposal) -> Result<usize, Fault> {
    let ids: Vec<Vec<u8>> =
        sqlx::query_scalar("SELECT id FROM proposals WHERE agent = ?1 AND status = 'pending'")
            .bind(new.agent.as_bytes().as_slice())
            .fetch_all(&mut *bench.conn)
            .await?;
    let matters = bench.gate.matters();
    let held = |id: &&Vec<u8>| {
        ProposalId::from_bytes(id).is_ok_and(|id| matters.knows(&Matter::Proposal(id)))
    };
    Ok(ids.iter().filter(held).count())
}

async fn must_be_known(conn: &mut SqliteConnection, proposal: &Proposal) -> Result<(), Fault> {
    let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM agents WHERE id = ?1)")
        .bind(proposal.agent.as_bytes().as_slice())
        .fetch_one(&mut *conn)
        .await?;
    if known { Ok(()) } else { Err(Refused::NotFound("agent").into()) }
}

/// The parts a proposal of a page needs are there, and no others.
async fn must_be_possible(
    conn: &mut SqliteConnection,
    space: i64,
    proposal: &Proposal,
) -> Result<(), Fault> {
    if proposal.action == ChangeAction::Merge || proposal.merge.is_some() {
        return Err(Refused::UnfitProposal("a page is not merged").into());
    }
    if proposal.action == ChangeAction::Enable || proposal.server.is_some() {
        return Err(Refused::UnfitProposal("a page is no server").into());
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

async fn insert(bench: &mut Bench<'_>, space: i64, proposal: &Proposal) -> Result<(), Fault> {
    let as_opened =
        Proposal { status: ProposalStatus::Pending, note: None, decided: None, ..proposal.clone() };
    let draft = proposal.draft.as_ref();
    let mac = matter::mac_of(bench.key, &as_opened);
    sqlx::query(
        "INSERT INTO proposals (id, agent, space, entity_type, action, page, base_revision, slug,
                                title, body, tags, reason, taint_private, taint_untrusted, status,
                                created, merge, mac, server)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'pending', ?15,
                 ?16, ?17, ?18)",
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
    .bind(proposal.merge.as_ref().map(matter::merge_text))
    .bind(mac.as_bytes().as_slice())
    .bind(proposal.server.as_ref().map(Slug::as_str))
    .execute(&mut *bench.conn)
    .await?;
    bench.hold(Matter::Proposal(proposal.id), true, mac);
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
    let proposal = undecided(bench, id, matter::is_open_proposal).await?;
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
        ChangeAction::Merge | ChangeAction::Enable => {
            return Err(Refused::NotFound("page").into());
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
    let waits =
        |it: &Proposal| matches!(it.status, ProposalStatus::Pending | ProposalStatus::Conflict);
    let proposal = undecided(bench, id, waits).await?;
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
    let proposal = undecided(bench, id, matter::is_open_proposal).await?;
    decide(bench, proposal, ProposalStatus::Conflict, Some(note), at).await?;
    Ok(Effected::Done)
}

/// The proposal, if it is as it must be for what is to become of it.
pub(super) async fn undecided(
    bench: &mut Bench<'_>,
    id: ProposalId,
    open: impl Fn(&Proposal) -> bool,
) -> Result<Proposal, Fault> {
    let row = sqlx::query(PROPOSAL_BY_ID)
        .bind(id.as_bytes().as_slice())
        .fetch_optional(&mut *bench.conn)
        .await?
        .ok_or(Fault::Refused(Refused::NotFound("proposal")))?;
    let found = matter::proposal(Fields(&row), bench.key)?;
    let proposal = found.current(bench.gate.matters())?;
    if open(&proposal) {
        Ok(proposal)
    } else {
        Err(Refused::AlreadyDecided(proposal.status).into())
    }
}

pub(super) async fn decide(
    bench: &mut Bench<'_>,
    proposal: Proposal,
    status: ProposalStatus,
    note: Option<&str>,
    at: Timestamp,
) -> Result<(), Fault> {
    let note = note.map(ToOwned::to_owned);
    let decided = Proposal { status, note, decided: Some(at), ..proposal };
    let mac = matter::mac_of(bench.key, &decided);
    sqlx::query(
        "UPDATE proposals SET status = ?2, note = ?3, decided = ?4, mac = ?5 WHERE id = ?1",
    )
    .bind(decided.id.as_bytes().as_slice())
    .bind(status.as_str())
    .bind(decided.note.as_deref())
    .bind(at.as_millis())
    .bind(mac.as_bytes().as_slice())
    .execute(&mut *bench.conn)
    .await?;
    bench.hold(Matter::Proposal(decided.id), matter::is_open_proposal(&decided), mac);
    Ok(())
}

/// Puts the MAC on proposals from before there was one. A row that does not even parse gets none,
/// and is damage from then on.
pub(in crate::writer) async fn seal_all(bench: &mut Bench<'_>) -> Result<(), Fault> {
    let mut after = Vec::new();
    loop {
        let rows = sqlx::query(UNSEALED).bind(after.as_slice()).fetch_all(&mut *bench.conn).await?;
        for row in &rows {
            after = Fields(row).get::<&[u8]>("id")?.to_vec();
            let Ok(proposal) = rows::proposal(Fields(row)) else { continue };
            let mac = matter::mac_of(bench.key, &proposal);
            sqlx::query("UPDATE proposals SET mac = ?2 WHERE id = ?1")
                .bind(after.as_slice())
                .bind(mac.as_bytes().as_slice())
                .execute(&mut *bench.conn)
                .await?;
            let open = matter::is_open_proposal(&proposal);
            bench.hold(Matter::Proposal(proposal.id), open, mac);
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

const UNSEALED: &str = proposals!("WHERE p.mac IS NULL AND p.id > ?1 ORDER BY p.id LIMIT 256");
