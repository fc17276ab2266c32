//! The inbox: what agents asked for, and what the owner says to it.

use narthex_core::{
    Bound, Outcome, PageDraft, PageKey, Proposal, ProposalId, ProposalStatus, Reason, RevisionId,
    Slug, Subject, clean_line,
};
use narthex_graph::merge::Asked;
use narthex_store::{
    Effect, Effected, ProposalFilter, Refused, RevisionFilter, StoreError, UnitOfWork, fresh_uuid,
};

use super::desk::{conflict, invalid, not_found, owner_record};
use super::{Decided, Desk, OwnerError, ProposalDetail, ProposalInfo, Reply};

impl Desk {
    pub(super) async fn inbox_list(
        &self,
        space: Option<&str>,
        statuses: Vec<ProposalStatus>,
        limit: u32,
    ) -> Result<Reply, OwnerError> {
        let space = match space {
            Some(name) => Some(self.space_named(name).await?.id),
            None => None,
        };
        let open = vec![ProposalStatus::Pending, ProposalStatus::Conflict];
        let statuses = if statuses.is_empty() { open } else { statuses };
        let filter =
            ProposalFilter { space, agent: None, statuses, limit: limit.clamp(1, MAX_LIST) };
        let mut infos = Vec::new();
        for proposal in self.store().proposals(&filter).await? {
            infos.push(self.proposal_info(&proposal).await?);
        }
        Ok(Reply::Proposals(infos))
    }

    pub(super) async fn inbox_show(&self, name: &str) -> Result<Reply, OwnerError> {
        let proposal = self.proposal_named(name).await?;
        let info = self.proposal_info(&proposal).await?;
        let (base, current) = self.texts(&proposal).await?;
        let (current_revision, current) =
            current.map_or((None, None), |(n, draft)| (Some(n), Some(draft)));
        // Against what it was made from, so that the diff is what the agent meant.
        let mut diff = diff(base.as_ref().or(current.as_ref()), proposal.draft.as_ref());
        let mut change = None;
        if let Some(merge) = &proposal.merge {
            let (rows, schema) = self.merge_change(&proposal, merge).await?;
            (change, diff) = (Some(rows), schema);
        }
        let server = match &proposal.server {
            Some(server) => Some(self.requested(&proposal, server).await?),
            None => None,
        };
        let detail = ProposalDetail {
            info,
            base,
            current,
            current_revision,
            proposed: proposal.draft,
            diff,
            change,
            server,
        };
        Ok(Reply::Proposal(Box::new(detail)))
    }

    pub(super) async fn inbox_approve(
        &self,
        name: &str,
        resolutions: &[Asked],
    ) -> Result<Reply, OwnerError> {
        let proposal = self.proposal_named(name).await?;
        if let Some(merge) = &proposal.merge {
            return self.merge_approve(&proposal, merge, resolutions).await;
        }
        if !resolutions.is_empty() {
            let message = format!(
                "only the rows of a merge are resolved, and this is a {}",
                proposal.entity_type
            );
            return Err(invalid(message));
        }
        if let Some(server) = &proposal.server {
            return self.server_request_approve(&proposal, server).await;
        }
        let id = proposal.id;
        let effect = Effect::ApplyProposal {
            id,
            new_page: narthex_core::PageId::from_uuid(fresh_uuid()),
            revision: RevisionId::from_uuid(fresh_uuid()),
            at: self.now(),
        };
        let subject = Subject::one("proposal", id);
        match self.change("inbox.approve", Some(proposal.space), subject, effect).await {
            Ok(committed) => {
                let (page, revision) = match committed.effected {
                    Effected::PageWritten { page, revision } => (Some(page), Some(revision)),
                    Effected::PageDeleted { page } => (Some(page), None),
                    _ => (None, None),
                };
                let status = ProposalStatus::Applied;
                Ok(Reply::Decided(Decided {
                    id,
                    status,
                    page,
                    revision,
                    merged: None,
                    let_in: None,
                }))
            }
            Err(StoreError::Refused(refused)) => Err(self.not_applied(&proposal, refused).await),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn inbox_reject(&self, name: &str, reason: &str) -> Result<Reply, OwnerError> {
        let note = clean_line("reason", reason, Bound::REASON_CHARS).map_err(invalid)?;
        let proposal = self.proposal_named(name).await?;
        let id = proposal.id;
        let effect = Effect::RejectProposal { id, note, at: self.now() };
        let subject = Subject::one("proposal", id);
        self.change("inbox.reject", Some(proposal.space), subject, effect).await?;
        Ok(Reply::Decided(Decided {
            id,
            status: ProposalStatus::Rejected,
            page: proposal.page,
            revision: None,
            merged: None,
            let_in: None,
        }))
    }

    /// A proposal that could not be applied: recorded, marked if the page moved on, both texts kept.
    async fn not_applied(&self, proposal: &Proposal, refused: Refused) -> OwnerError {
        let subject = Subject::one("proposal", proposal.id);
        let record = owner_record(
            "inbox.approve",
            Some(proposal.space),
            subject,
            Outcome::Refused,
            Reason::Conflict,
        );
        let moved = matches!(
            refused,
            Refused::Stale { .. } | Refused::PageLeft | Refused::Taken(_) | Refused::NotFound(_)
        );
        let effect = moved.then(|| Effect::MarkConflict {
            id: proposal.id,
            note: refused.to_string(),
            at: self.now(),
        });
        let unit = UnitOfWork { effect, records: vec![record], ..UnitOfWork::default() };
        match self.store().commit(unit).await {
            Ok(_) if moved => conflict(format!(
                "not applied: {refused}. Both texts are kept (narthex inbox show {}); reject it, or ask for a new proposal",
                proposal.id
            )),
            Ok(_) | Err(StoreError::Refused(_)) => conflict(format!("not applied: {refused}")),
            Err(error) => error.into(),
        }
    }

    /// What the page said when the proposal was made, and what it says now.
    async fn texts(
        &self,
        proposal: &Proposal,
    ) -> Result<(Option<PageDraft>, Option<(u32, PageDraft)>), OwnerError> {
        let Some(page) = proposal.page else { return Ok((None, None)) };
        let base = match proposal.base_revision {
            Some(number) => {
                let filter = RevisionFilter::Number(number);
                let found = self.store().revisions(proposal.space, page, filter).await?;
                found.into_iter().next().and_then(|revision| revision.draft)
            }
            None => None,
        };
        let current = self.store().page(proposal.space, &PageKey::Id(page)).await?;
        Ok((base, current.map(|view| (view.page.revision, view.page.draft))))
    }

    async fn proposal_named(&self, name: &str) -> Result<Proposal, OwnerError> {
        let missing = || not_found("proposal", name, "narthex inbox list --all");
        let id: ProposalId = name.parse().map_err(|_| missing())?;
        self.store().proposal(id).await?.ok_or_else(missing)
    }

    async fn proposal_info(&self, proposal: &Proposal) -> Result<ProposalInfo, OwnerError> {
        let agent = self.store().agent(proposal.agent).await?;
        let space = self.store().space(proposal.space).await?;
        // What it is about is the page as it is called now, whatever the proposal would call it.
        let current = match proposal.page {
            Some(page) => self.store().page(proposal.space, &PageKey::Id(page)).await?,
            None => None,
        };
        let current = current.map(|view| view.page.draft.slug);
        let proposed = proposal.draft.as_ref().map(|draft| draft.slug.clone());
        let merge = match &proposal.merge {
            Some(merge) => Some(self.merge_info(proposal, merge).await?),
            None => None,
        };
        let graph = merge.as_ref().and_then(|merge| merge.graph.as_ref());
        let slug = current.or(proposed).map(|slug| slug.to_string());
        let slug = slug.or_else(|| graph.or(proposal.server.as_ref()).map(ToString::to_string));
        Ok(ProposalInfo {
            id: proposal.id,
            agent: agent.map_or_else(gone, |agent| Ok(agent.slug))?,
            space: space.map_or_else(gone, |space| Ok(space.slug))?,
            entity_type: proposal.entity_type,
            action: proposal.action,
            slug,
            page: proposal.page,
            base_revision: proposal.base_revision,
            merge,
            reason: proposal.reason.clone(),
            taint: proposal.taint,
            status: proposal.status,
            note: proposal.note.clone(),
            created: proposal.created,
            decided: proposal.decided,
        })
    }
}

fn gone() -> Result<Slug, OwnerError> {
    Err(OwnerError {
        kind: super::Trouble::Internal,
        message: "the proposal names an agent or a space that is not there".to_owned(),
    })
}

/// A unified diff of front matter and markdown.
fn diff(old: Option<&PageDraft>, new: Option<&PageDraft>) -> String {
    unified(&old.map(as_text).unwrap_or_default(), &new.map(as_text).unwrap_or_default())
}

/// A unified diff of two texts.
pub(super) fn unified(old: &str, new: &str) -> String {
    similar::TextDiff::configure()
        .timeout(DIFF_TIME)
        .diff_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header("current", "proposed")
        .to_string()
}

fn as_text(draft: &PageDraft) -> String {
    let tags = draft.tags.join(", ");
    let newline = if draft.body.ends_with('\n') || draft.body.is_empty() { "" } else { "\n" };
    format!("title: {}\nslug: {}\ntags: {tags}\n\n{}{newline}", draft.title, draft.slug, draft.body)
}

const DIFF_TIME: std::time::Duration = std::time::Duration::from_secs(2);
const MAX_LIST: u32 = 1_000;
