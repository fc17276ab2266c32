//! The MAC a proposal carries: one that was edited in the database is neither shown nor applied.

use narthex_core::{Digest, Proposal, Timestamp};
use narthex_store::RowKey;

use crate::fault::Fault;
use crate::rows::{self, Fields};

/// What a row says, if its MAC is genuine. Expects the space's id as `space_id`.
pub(crate) fn read(row: Fields<'_>, key: &RowKey) -> Result<Proposal, Fault> {
    let proposal = rows::proposal(row)?;
    let stored = row.get::<Option<&[u8]>>("mac")?.unwrap_or_default();
    // Compared as digests: whoever could time this could read the row.
    if of(key, &proposal).as_bytes().as_slice() != stored {
        let id = proposal.id;
        return Err(Fault::damaged(format!("proposal {id} was changed from outside")));
    }
    Ok(proposal)
}

/// Over every field, each told apart from one that is not there.
pub(crate) fn of(key: &RowKey, proposal: &Proposal) -> Digest {
    let draft = proposal.draft.as_ref();
    let tags = draft.map(|draft| serde_json::json!(draft.tags).to_string());
    let fields = [
        Some(proposal.id.as_bytes().to_vec()),
        Some(proposal.agent.as_bytes().to_vec()),
        Some(proposal.space.as_bytes().to_vec()),
        Some(proposal.entity_type.as_str().into()),
        Some(proposal.action.as_str().into()),
        proposal.page.map(|page| page.as_bytes().to_vec()),
        proposal.base_revision.map(|base| base.to_be_bytes().to_vec()),
        draft.map(|draft| draft.slug.as_str().into()),
        draft.map(|draft| draft.title.as_str().into()),
        draft.map(|draft| draft.body.as_str().into()),
        tags.map(String::into_bytes),
        Some(proposal.reason.as_str().into()),
        Some(vec![u8::from(proposal.taint.private), u8::from(proposal.taint.untrusted)]),
        Some(proposal.status.as_str().into()),
        proposal.note.as_deref().map(Into::into),
        Some(millis(proposal.created)),
        proposal.decided.map(millis),
    ];
    let fields = fields.map(|field| {
        field.map_or_else(Vec::new, |mut bytes: Vec<u8>| {
            bytes.push(PRESENT);
            bytes
        })
    });
    let slices: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
    key.row("proposals", &slices)
}

fn millis(at: Timestamp) -> Vec<u8> {
    at.as_millis().to_be_bytes().to_vec()
}

/// Ends a field that is there, so that an empty one is not taken for none.
const PRESENT: u8 = 1;
