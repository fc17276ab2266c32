//! Merges and reverts, on the stage and in the model.

use serde_json::json;

use super::model::Wrote;
use super::play::Player;
use super::{Facts, Key, Resolve, Row, Rows, Said, Stage};
use crate::GraphError;
use crate::engine::Done;
use crate::merge::{Asked, Body, ConflictKind, Conflicts, RowName, Take};

impl<S: Stage> Player<'_, S> {
    pub(super) async fn revert(&mut self, branch: usize, back: u8) -> bool {
        let commit = self.seen(branch, back);
        let whole = &self.model.commits[commit];
        let id = whole.id.expect("an id");
        let done = self.hand.revert(branch, id, &[]).await;
        if whole.bare {
            assert!(matches!(done, Err(GraphError::Revert(_))), "{done:?}");
            return false;
        }
        let before = whole.parent.expect("a parent");
        let facts = self.model.head(branch).facts.clone();
        let (mut done, mut said, mut asked) = (done, Wrote::new(), Vec::new());
        for _ in 0..ROUNDS {
            match self.model.revert(branch, commit, &facts, &said) {
                Said::Rows(rows, wrote) if facts.holds(&rows) => {
                    return self.wrote(branch, done, wrote, "a revert");
                }
                Said::Rows(..) => {
                    let Err(GraphError::Conflicts(found)) = done else { panic!("{done:?}") };
                    let sides = (&self.model.head(branch).rows, &self.model.commits[before].rows);
                    if !self.as_it_says(sides, &found, &facts, &mut said, &mut asked) {
                        return false;
                    }
                    self.played.ruled += 1;
                    let resolutions: Vec<Asked> =
                        asked.iter().map(|(_, asked)| asked.clone()).collect();
                    done = self.hand.revert(branch, id, &resolutions).await;
                }
                Said::Conflicts(rows) => {
                    let Err(GraphError::Conflicts(found)) = done else { panic!("{done:?}") };
                    assert_eq!(self.named(&found, &facts), rows);
                    return false;
                }
                Said::Nothing => panic!("a revert is no merge"),
            }
        }
        false
    }

    pub(super) async fn merge(
        &mut self,
        (into, from): (usize, usize),
        how: Resolve,
        allow: bool,
    ) -> bool {
        let (ours, theirs) = (self.model.head(into), self.model.head(from));
        let shared = self.model.shared(into, from);
        let last = self.model.last(&shared);
        let bases: Vec<&Facts> = last.iter().map(|at| &self.model.commits[*at].facts).collect();
        let Some(facts) = Facts::merged(&bases, &ours.facts, &theirs.facts) else {
            let done = self.hand.merge((into, from), &[], allow).await;
            assert!(matches!(done, Err(GraphError::Conflicts(_))), "{done:?}");
            return false;
        };
        let apart = self.model.are_apart(into, from);
        let (mut said, mut asked) = (Wrote::new(), Vec::<(Row, Asked)>::new());
        for _ in 0..ROUNDS {
            let resolutions: Vec<Asked> = asked.iter().map(|(_, asked)| asked.clone()).collect();
            let done = self.hand.merge((into, from), &resolutions, allow).await;
            // Two changed schemas may not go together in ways that facts do not say; but never
            // where they changed nothing of the same.
            if let Err(GraphError::Conflicts(found)) = &done
                && found.listed.iter().all(|one| matches!(one.kind, ConflictKind::Schema { .. }))
            {
                assert!(self.both_changed(into, from), "{found}");
                assert!(!apart, "{found}");
                return false;
            }
            match self.model.merge(into, from, &facts, &said) {
                Said::Nothing => {
                    assert!(!done.unwrap_or_else(|error| panic!("{error}")).committed);
                    return true;
                }
                Said::Rows(rows, wrote) => {
                    let loses = self.model.head(into).facts.loses(&facts)
                        || self.model.hides(into, from, &facts, &wrote);
                    let stopped = loses && !allow;
                    if stopped || facts.holds(&rows) {
                        return self.merged((into, from), done, &facts, (rows, wrote), stopped);
                    }
                    let Err(GraphError::Conflicts(found)) = done else { panic!("{done:?}") };
                    let sides = (&self.model.head(into).rows, &self.model.head(from).rows);
                    if how == Resolve::Not
                        || !self.as_it_says(sides, &found, &facts, &mut said, &mut asked)
                    {
                        return false;
                    }
                    self.played.ruled += 1;
                }
                Said::Conflicts(rows) => {
                    let Err(GraphError::Conflicts(found)) = done else {
                        panic!("{done:?}, but {rows:?}")
                    };
                    assert_eq!(self.named(&found, &facts), rows);
                    self.played.met += usize::from(said.is_empty());
                    if how == Resolve::Not {
                        return false;
                    }
                    self.played.decided += 1;
                    for conflict in &found.listed {
                        let name = conflict.row.clone().expect("a row");
                        let row = self.row(&name, &facts);
                        let again = said.contains_key(&row);
                        let orphan = matches!(conflict.kind, ConflictKind::OrphanedEdge { .. });
                        let how = if again || orphan { Resolve::Gone } else { how };
                        let sides = (&self.model.head(into).rows, &self.model.head(from).rows);
                        let (take, body) = resolved(sides, &row, &name, how, &facts);
                        asked.retain(|(of, _)| *of != row);
                        asked.push((row.clone(), take));
                        said.insert(row, body);
                    }
                }
            }
        }
        assert!(self.played.ruled > 0, "the questions never end");
        false
    }

    /// Takes rules that are broken at their word: what a conflict says would resolve it is said.
    /// False if all of that was said before.
    fn as_it_says(
        &self,
        sides: (&Rows, &Rows),
        found: &Conflicts,
        facts: &Facts,
        said: &mut Wrote,
        asked: &mut Vec<(Row, Asked)>,
    ) -> bool {
        let mut more = false;
        for way in found.listed.iter().flat_map(|one| &one.resolve) {
            let Asked::Take { row: name, take } = way else { panic!("{way:?}") };
            let row = self.row(name, facts);
            let how = match take {
                _ if said.contains_key(&row) => Resolve::Gone,
                Take::Ours => Resolve::Ours,
                Take::Theirs => Resolve::Theirs,
                Take::Gone => Resolve::Gone,
            };
            let (take, body) = resolved(sides, &row, name, how, facts);
            more |= said.get(&row) != Some(&body);
            asked.retain(|(of, _)| *of != row);
            asked.push((row.clone(), take));
            said.insert(row, body);
        }
        more
    }

    /// Whether both sides changed their schema since they were one.
    fn both_changed(&self, into: usize, from: usize) -> bool {
        let shared = self.model.shared(into, from);
        [into, from].into_iter().all(|side| {
            let alone = self.model.head(side).before.difference(&shared);
            alone.into_iter().any(|at| self.model.commits[*at].bare)
        })
    }

    fn merged(
        &mut self,
        (into, from): (usize, usize),
        done: Result<Done, GraphError>,
        facts: &Facts,
        (rows, wrote): (Rows, Wrote),
        stopped: bool,
    ) -> bool {
        if stopped {
            assert!(matches!(done, Err(GraphError::Migration(_))), "{done:?}");
            return false;
        }
        let done = done.unwrap_or_else(|error| panic!("{error}"));
        self.played.united += usize::from(self.both_changed(into, from));
        let whole = self.model.commit(into, Some(from), wrote);
        assert_eq!(whole.rows, rows);
        whole.facts = facts.clone();
        self.called(into, &done);
        self.played.merged += 1;
        true
    }

    fn named(&self, found: &Conflicts, facts: &Facts) -> std::collections::BTreeSet<Row> {
        let names = found.listed.iter().filter_map(|conflict| conflict.row.as_ref());
        names.map(|name| self.row(name, facts)).collect()
    }

    #[expect(clippy::unused_self, reason = "beside what does need it")]
    fn row(&self, name: &RowName, facts: &Facts) -> Row {
        let number = |key: &str| key.trim_start_matches('p').parse().expect("a number");
        match name {
            RowName::Node { type_name, key } => {
                let slot = facts.type_slot(type_name).expect("a type");
                (slot.to_owned(), Key::Node(number(key)))
            }
            RowName::Edge { type_name, from, to, key } => {
                let (from, to) = (number(&from.1), number(&to.1));
                let no = key.first().map(|no| no.parse().expect("a number"));
                (type_name.clone(), no.map_or(Key::Edge(from, to), |no| Key::Call(from, to, no)))
            }
        }
    }
}

/// A resolution, and what the row is then.
fn resolved(
    (ours, theirs): (&Rows, &Rows),
    row: &Row,
    name: &RowName,
    how: Resolve,
    facts: &Facts,
) -> (Asked, Option<Body>) {
    let take = |take| Asked::Take { row: name.clone(), take };
    match (how, row.1) {
        (Resolve::Ours | Resolve::Not, _) => (take(Take::Ours), ours.get(row).cloned()),
        (Resolve::Theirs, _) => (take(Take::Theirs), theirs.get(row).cloned()),
        (Resolve::Given, Key::Node(no)) if row.0 == "Person" => {
            let mut given = json!({facts.name(): "2", "age": "1"});
            let mut body = Body::from([("slug".to_owned(), json!(format!("p{no}")))]);
            if let Some(slot) = facts.slot("Person", "mail").filter(|_| facts.must("mail")) {
                given["mail"] = json!("1");
                body.insert(slot.to_owned(), json!("1"));
            }
            let given = given.as_object().expect("an object").clone();
            body.insert("name".to_owned(), json!("2"));
            body.insert("age".to_owned(), json!(1));
            (Asked::Given { row: name.clone(), given }, Some(body))
        }
        (Resolve::Gone | Resolve::Given, _) => (take(Take::Gone), None),
    }
}

/// How often a merge asks.
const ROUNDS: usize = 8;
