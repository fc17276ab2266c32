//! What a view is made of, and what that makes of a statement.

/// A line up to one of its commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) line: i64,
    pub(super) upto: i64,
    /// Nothing was committed on the line since: what is current is all that counts.
    pub(super) at_head: bool,
}

/// Segments that have anything, the nearest first, and the number of the parameter before theirs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layers<'a> {
    pub(super) segments: &'a [Segment],
    pub(super) before: usize,
}

impl Layers<'_> {
    /// The parameter that is the line of a segment.
    pub(super) const fn line(&self, n: usize) -> usize {
        self.before + 2 * n + 1
    }

    /// The parameter that is the last commit of a segment.
    pub(super) const fn upto(&self, n: usize) -> usize {
        self.before + 2 * n + 2
    }

    /// Says that a current version (under this name) was there already at a segment's end.
    pub(super) fn written(&self, n: usize, segment: &Segment, version: &str) -> String {
        if segment.at_head {
            String::new()
        } else {
            format!(" AND {version}.seq <= ?{}", self.upto(n))
        }
    }

    /// Says that a superseded version (under this name) was the one at a segment's end.
    pub(super) fn lasted(&self, n: usize, version: &str) -> String {
        let upto = self.upto(n);
        format!(" AND {version}.until > ?{upto} AND {version}.seq <= ?{upto}")
    }

    /// Says that no nearer segment has written the row.
    pub(super) fn in_sight(&self, n: usize, tag: &str, row: &str) -> String {
        use std::fmt::Write as _;
        let mut sql = String::new();
        for (m, nearer) in self.segments.iter().enumerate().take(n) {
            let (line, upto) = (self.line(m), self.upto(m));
            let written = self.written(m, nearer, "s");
            let _ = write!(
                sql,
                " AND NOT EXISTS (SELECT 1 FROM graph_rows s
                   WHERE s.line = ?{line} AND s.tag = {tag} AND s.row = {row}{written})"
            );
            if !nearer.at_head {
                // The oldest version is the first: if that came later, all did.
                let _ = write!(
                    sql,
                    " AND coalesce((SELECT s.seq FROM graph_history s
                       WHERE s.line = ?{line} AND s.tag = {tag} AND s.row = {row}
                       ORDER BY s.until LIMIT 1), ?{upto} + 1) > ?{upto}"
                );
            }
        }
        sql
    }

    /// What is current in each segment and what was superseded since, as one statement.
    pub(super) fn all(
        &self,
        current: impl Fn(usize, &Segment) -> String,
        superseded: impl Fn(usize) -> String,
    ) -> String {
        let mut arms = Vec::new();
        for (n, segment) in self.segments.iter().enumerate() {
            arms.push(current(n, segment));
            if !segment.at_head {
                arms.push(superseded(n));
            }
        }
        arms.join(" UNION ALL ")
    }
}
