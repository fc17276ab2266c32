//! The MAC a proposal carries: one that was edited in the database is neither shown nor applied.

use narthex_core::{Digest, MergeRequest, Proposal, Timestamp};
use narthex_store::RowKey;

use super::{Genuine, Matter, is_open_proposal};
use crate::fault::Fault;
use crate::rows::{self, Fields};

/// What a row says, if its MAC is genuine. Expects the space's id as `space_id`.
pub(crate) fn proposal(row: Fields<'_>, key: &RowKey) -> Result<Genuine<Proposal>, Fault> {
    let said = rows::proposal(row)?;
    let stored = row.get::<Option<&[u8]>>("mac")?.unwrap_or_default();
    // Compared as digests: whoever could time this could read the row.
    let mac = mac_of(key, &said);
    if mac.as_bytes().as_slice() != stored {
        return Err(Fault::damaged(format!("proposal {} was changed from outside", said.id)));
    }
    let (matter, open) = (Matter::Proposal(said.id), is_open_proposal(&said));
    Ok(Genuine { said, matter, mac, open })
}

/// Over every field, each told apart from one that is not there.
pub(crate) fn mac_of(key: &RowKey, proposal: &Proposal) -> Digest {
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
    let ended = |field: Option<Vec<u8>>| {
        field.map_or_else(Vec::new, |mut bytes| {
            bytes.push(PRESENT);
            bytes
        })
    };
    // Only as far as there is one, so that a proposal from before there were any keeps its MAC.
    let mut later = vec![
        proposal.merge.as_ref().map(|merge| merge_text(merge).into_bytes()),
        proposal.server.as_ref().map(|server| server.as_str().into()),
    ];
    later.truncate(later.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
    let fields: Vec<Vec<u8>> = fields.into_iter().chain(later).map(ended).collect();
    let slices: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
    key.row("proposals", &slices)
}

/// A merge as it is kept. Its parts are texts: it always has such a form.
pub(crate) fn merge_text(merge: &MergeRequest) -> String {
    narthex_core::canonical(merge).unwrap_or_default()
}

fn millis(at: Timestamp) -> Vec<u8> {
    at.as_millis().to_be_bytes().to_vec()
}

/// Ends a field that is there, so that an empty one is not taken for none.
const PRESENT: u8 = 1;

macro_rules! proposals {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.agent, s.id AS space_id, p.entity_type, p.action, p.page,
                    p.base_revision, p.slug, p.title, p.body, p.tags, p.reason, p.taint_private,
                    p.taint_untrusted, p.status, p.note, p.created, p.decided, p.merge,
                    p.server, p.mac
               FROM proposals p JOIN spaces s ON s.n = p.space ",
            $rest
        )
    };
}
pub(crate) use proposals;

pub(crate) const PROPOSAL_BY_ID: &str = proposals!("WHERE p.id = ?1");
