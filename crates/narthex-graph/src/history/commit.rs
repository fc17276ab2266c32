//! What a commit is called.

use narthex_core::{Actor, CommitId, Digest, Taint, Timestamp, canonical, canonical_json};
use narthex_store::{CommitKind, RowNo};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// What a commit's name is made of: all that it says.
#[derive(Debug, Clone, Copy)]
pub struct CommitParts<'a> {
    /// What it is made on.
    pub parents: &'a [CommitId],
    /// The branch it is put on. Without it, the same change made on two branches in the same
    /// moment would be two commits of one name.
    pub branch: &'a str,
    /// The digest of the schema it holds to.
    pub schema: Digest,
    /// What kind of change it is.
    pub kind: CommitKind,
    /// Who makes it.
    pub actor: &'a Actor,
    /// Under what taint.
    pub taint: Taint,
    /// What is said about it.
    pub message: &'a str,
    /// When.
    pub at: Timestamp,
}

/// A row that a commit writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedRow<'a> {
    /// The slot of its type.
    pub type_slot: &'a str,
    /// Its number.
    pub row: RowNo,
    /// What is in it; none if it is gone.
    pub body: Option<&'a str>,
}

/// The name of a commit: a digest over what it says and over what it changes, in whichever order
/// the changes come.
pub fn commit_id(parts: &CommitParts<'_>, changes: &mut [ChangedRow<'_>]) -> CommitId {
    changes.sort_unstable();
    let mut digest = ChangesDigest::default();
    for change in changes.iter() {
        digest.add(change);
    }
    parts.name(digest.finish())
}

/// A digest over rows that come in order.
#[derive(Debug, Default)]
pub struct ChangesDigest(Sha256);

impl ChangesDigest {
    /// The next row; none comes before one that was there.
    pub fn add(&mut self, change: &ChangedRow<'_>) {
        // Texts and a number as text: there is nothing that has no canonical form.
        let row = (change.type_slot, change.row.0.to_string(), change.body);
        self.0.update(canonical(&row).unwrap_or_default().as_bytes());
        self.0.update(b"\n");
    }

    /// Of all of them.
    pub fn finish(self) -> Digest {
        Digest::from_bytes(self.0.finalize().into())
    }
}

impl CommitParts<'_> {
    /// The name of the commit that changes what this is the digest of.
    pub fn name(&self, changes: Digest) -> CommitId {
        let said = json!({
            "form": "narthex graph commit v1",
            "parents": self.parents,
            "branch": self.branch,
            "schema": self.schema,
            "kind": self.kind,
            "actor": self.actor,
            "taint": self.taint,
            "message": self.message,
            "at": self.at.as_millis(),
            "changes": changes,
        });
        CommitId::of(Digest::of(canonical_json(&said).as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use narthex_core::{Actor, CommitId, Digest, Taint, Timestamp};
    use narthex_store::{CommitKind, RowNo};

    use super::{ChangedRow, CommitParts, commit_id};

    const NAME: &str = "c76d3fa54312b00033b986f8d04b69ea7a432f48bc9f50501d75a3898563ea92";

    fn change<'a>(type_slot: &'a str, row: i64, body: Option<&'a str>) -> ChangedRow<'a> {
        ChangedRow { type_slot, row: RowNo(row), body }
    }

    #[test]
    fn a_name_is_of_all_that_is_in_it_and_of_no_order() {
        let parent = CommitId::of(Digest::of(b"parent"));
        let parents = [parent];
        let parts = CommitParts {
            parents: &parents,
            branch: "main",
            schema: Digest::of(b"schema"),
            kind: CommitKind::Mutate,
            actor: &Actor::Owner,
            taint: Taint::CLEAN,
            message: "add ada",
            at: Timestamp::from_millis(1),
        };
        let (ada, bob) = (change("Person", 1, Some("{}")), change("Person", 2, None));
        let is = commit_id(&parts, &mut [ada, bob]);
        assert_eq!(commit_id(&parts, &mut [bob, ada]), is);
        // Stays what it is: commits are found by it.
        assert_eq!(is.to_string(), NAME);
        let two = [parent, CommitId::of(Digest::of(b"other"))];
        let tainted = Taint { private: true, untrusted: false };
        let others = [
            commit_id(&CommitParts { parents: &[], ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { parents: &two, ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { branch: "other", ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { schema: Digest::of(b"s"), ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { kind: CommitKind::Load, ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { actor: &Actor::House, ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { taint: tainted, ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { message: "", ..parts }, &mut [ada, bob]),
            commit_id(&CommitParts { at: Timestamp::from_millis(2), ..parts }, &mut [ada, bob]),
            commit_id(&parts, &mut [ada]),
            commit_id(&parts, &mut [ada, change("Person", 2, Some("{}"))]),
            commit_id(&parts, &mut [ada, change("Person", 3, None)]),
            commit_id(&parts, &mut [ada, change("Persona", 2, None)]),
        ];
        for (at, other) in others.iter().enumerate() {
            assert_ne!(*other, is, "{at}");
            assert!(!others.iter().skip(at + 1).any(|next| next == other), "{at}");
        }
    }
}
