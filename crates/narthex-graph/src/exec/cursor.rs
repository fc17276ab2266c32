//! A place in an answer that is read page by page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use narthex_core::{CommitId, Digest};
use serde::{Deserialize, Serialize};

use super::{Context, CursorError, ExecError};
use crate::query::Read;

/// Which part of an answer is wanted.
#[derive(Debug, Clone)]
pub struct Page {
    /// How many rows at most. Where a [`super::Limits::answer_rows`] is less, that many.
    pub size: u32,
    /// From where: the `next` of the page before.
    pub cursor: Option<String>,
}

impl Default for Page {
    fn default() -> Self {
        Self { size: u32::MAX, cursor: None }
    }
}

/// A place in the answer to one query with one set of parameters at one commit.
///
/// The token is opaque and sealed with the graph's salt: one that was not given out is refused by
/// [`super::run_read`]. Until then its commit is only what somebody says, so a caller looks at it
/// there with no more rights than anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    #[serde(rename = "c")]
    commit: CommitId,
    /// The moment of the first page, so that `now()` is the same on all.
    #[serde(rename = "n")]
    now: i64,
    #[serde(rename = "o")]
    offset: u64,
    #[serde(rename = "s")]
    seal: Digest,
}

impl Cursor {
    /// Reads a token.
    pub fn parse(token: &str) -> Result<Self, CursorError> {
        if token.len() > TOKEN_BYTES {
            return Err(CursorError::Unreadable);
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| CursorError::Unreadable)?;
        serde_json::from_slice(&bytes).map_err(|_| CursorError::Unreadable)
    }

    /// The commit that its pages are of: the view must be of it.
    pub const fn commit(&self) -> CommitId {
        self.commit
    }

    /// How many rows came before.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// A place in this answer.
    pub(super) fn at(context: &Context<'_>, read: &Read, commit: CommitId, offset: u64) -> Self {
        let now = context.now.timestamp_micros();
        Self { commit, now, offset, seal: seal(context, read, commit, now, offset) }
    }

    /// Whether it is a place in this answer; the moment of the first page if so.
    pub(super) fn check(
        &self,
        context: &Context<'_>,
        read: &Read,
        commit: CommitId,
    ) -> Result<DateTime<Utc>, ExecError> {
        if self.seal != seal(context, read, self.commit, self.now, self.offset) {
            return Err(CursorError::Elsewhere.into());
        }
        if self.commit != commit {
            return Err(CursorError::OtherCommit.into());
        }
        DateTime::from_timestamp_micros(self.now).ok_or_else(|| CursorError::Unreadable.into())
    }

    /// As a token.
    pub(super) fn token(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }
}

/// What only this graph can say of this query, these parameters and this place. Twice, so that
/// nobody can go on from one seal to that of a longer text.
fn seal(context: &Context<'_>, read: &Read, commit: CommitId, now: i64, offset: u64) -> Digest {
    let said = format!("narthex cursor v1 {commit} {now} {offset} {:?} {read:?}", context.params);
    let salted = |bytes: &[u8]| Digest::of(&[context.salt.as_slice(), bytes].concat());
    salted(salted(said.as_bytes()).as_bytes())
}

/// No token is longer.
const TOKEN_BYTES: usize = 512;
