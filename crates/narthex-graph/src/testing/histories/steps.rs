//! Each act, on the stage and in the model.

use std::fmt::Write as _;

use narthex_store::At;
use serde_json::json;

use super::ask::{knows, name, person};
use super::model::{Wrote, put};
use super::play::Player;
use super::{BRANCHES, Change, Facts, Key, PEOPLE, Person, Row, Stage};
use crate::GraphError;
use crate::engine::{Done, LoadMode};
use crate::merge::Body;
use crate::schema::Schema;

impl<S: Stage> Player<'_, S> {
    pub(super) async fn put(
        &mut self,
        branch: usize,
        no: u8,
        Person { name: called, age, nick, code, mail }: Person,
    ) -> bool {
        let (facts, row) = (self.model.head(branch).facts.clone(), person(no));
        let there = self.model.head(branch).rows.get(&row);
        let mut body = there.map(|body| facts.seen(&row, body)).unwrap_or_default();
        body.insert("slug".to_owned(), json!(format!("p{no}")));
        body.insert("name".to_owned(), json!(called.to_string()));
        set(&mut body, "age", age.map(|age| json!(age)));
        let large = if facts.is_wide() { 1 << 40 } else { 2 };
        let code = code.map(|code| if code < 2 { i64::from(code) } else { large });
        set(&mut body, "code", code.map(|code| json!(code)));
        let mut sets =
            format!("{}: \"{called}\", age: {}, code: {}", facts.name(), said(age), said(code));
        if let Some(slot) = facts.slot("Person", "mail") {
            let mail = if facts.must("mail") { mail.or(Some(0)) } else { mail };
            set(&mut body, slot, mail.map(|mail| json!(mail.to_string())));
            write!(sets, ", mail: {}", said(mail.map(|mail| format!("\"{mail}\""))))
                .expect("writes");
        }
        if let Some(slot) = facts.slot("Person", "nick") {
            set(&mut body, slot, nick.map(|nick| json!(nick.to_string())));
            let nick = nick.map(|nick| format!("\"{nick}\""));
            write!(sets, ", nick: {}", said(nick)).expect("writes");
        }
        let source = match there {
            Some(_) => format!("update Person set {{ {sets} }} where slug = \"p{no}\""),
            None => format!("insert Person {{ slug: \"p{no}\", {sets} }}"),
        };
        self.write(branch, &source, [(row, Some(body))].into()).await
    }

    pub(super) async fn drop(&mut self, branch: usize, no: u8) -> bool {
        let rows = self.model.head(branch).rows.keys();
        let goes = |row: &&Row| match row.1.ends() {
            None => **row == person(no),
            Some(ends) => ends.contains(&no),
        };
        let gone = rows.filter(goes).map(|row| (row.clone(), None)).collect();
        self.write(branch, &format!("delete Person where slug = \"p{no}\""), gone).await
    }

    pub(super) async fn tie(&mut self, branch: usize, one: u8, other: u8, since: u8) -> bool {
        let row = knows(one, other);
        let source = if self.model.head(branch).rows.contains_key(&row) {
            format!(
                "update Knows set {{ since: \"{since}\" }} where from = \"p{one}\" and to = \"p{other}\""
            )
        } else {
            format!("insert Knows {{ from: \"p{one}\", to: \"p{other}\", since: \"{since}\" }}")
        };
        self.write(branch, &source, [(row, Some(tie(one, other, since)))].into()).await
    }

    pub(super) async fn untie(&mut self, branch: usize, one: u8, other: u8) -> bool {
        let source = format!("delete Knows where from = \"p{one}\" and to = \"p{other}\"");
        let there = self.model.head(branch).rows.contains_key(&knows(one, other));
        let gone = there.then(|| (knows(one, other), None)).into_iter().collect();
        self.write(branch, &source, gone).await
    }

    pub(super) async fn call(
        &mut self,
        branch: usize,
        (one, other, no): (u8, u8, u8),
        note: u8,
    ) -> bool {
        let row = ("Calls".to_owned(), Key::Call(one, other, no));
        let mut body = ends(one, other);
        body.insert("no".to_owned(), json!(no));
        body.insert("note".to_owned(), json!(note.to_string()));
        let at = format!("where from = \"p{one}\" and to = \"p{other}\" and no = {no}");
        let (source, to) = match self.model.head(branch).rows.get(&row) {
            Some(there) if *there == body => (format!("delete Calls {at}"), None),
            Some(_) => (format!("update Calls set {{ note: \"{note}\" }} {at}"), Some(body)),
            None => (
                format!(
                    "insert Calls {{ from: \"p{one}\", to: \"p{other}\", no: {no}, note: \"{note}\" }}"
                ),
                Some(body),
            ),
        };
        self.write(branch, &source, [(row, to)].into()).await
    }

    pub(super) async fn like(&mut self, branch: usize, one: u8, other: u8) -> bool {
        let row = ("Likes".to_owned(), Key::Edge(one, other));
        let head = self.model.head(branch);
        let insert = format!("insert Likes {{ from: \"p{one}\", to: Person(\"p{other}\") }}");
        if !head.facts.are_beings() {
            let refused = self.hand.mutate(branch, &insert).await;
            assert!(matches!(refused, Err(GraphError::Text(_))), "{refused:?}");
            return false;
        }
        let (source, to) = if head.rows.contains_key(&row) {
            let source =
                format!("delete Likes where from = \"p{one}\" and to = Person(\"p{other}\")");
            (source, None)
        } else {
            (insert, Some(ends(one, other)))
        };
        self.write(branch, &source, [(row, to)].into()).await
    }

    pub(super) async fn pet(&mut self, branch: usize, no: u8) -> bool {
        let head = self.model.head(branch);
        let Some(slot) = head.facts.type_slot("Pet") else {
            let refused = self.hand.mutate(branch, "insert Pet { slug: \"p1\" }").await;
            assert!(matches!(refused, Err(GraphError::Text(_))), "{refused:?}");
            return false;
        };
        let row = (slot.to_owned(), Key::Node(no));
        let body = Body::from([("slug".to_owned(), json!(format!("p{no}")))]);
        let (source, to) = if head.rows.contains_key(&row) {
            (format!("delete Pet where slug = \"p{no}\""), None)
        } else {
            (format!("insert Pet {{ slug: \"p{no}\" }}"), Some(body))
        };
        self.write(branch, &source, [(row, to)].into()).await
    }

    /// A change that must be made if what comes of it is as it must be.
    async fn write(&mut self, branch: usize, source: &str, wrote: Wrote) -> bool {
        let done = self.hand.mutate(branch, source).await;
        self.wrote(branch, done, wrote, source)
    }

    pub(super) fn wrote(
        &mut self,
        branch: usize,
        done: Result<Done, GraphError>,
        mut wrote: Wrote,
        what: &str,
    ) -> bool {
        let head = self.model.head(branch);
        let mut rows = head.rows.clone();
        put(&mut rows, &wrote);
        if !head.facts.holds(&rows) {
            assert!(matches!(done, Err(GraphError::Exec(_))), "{what}: {done:?}");
            return false;
        }
        let done = done.unwrap_or_else(|error| panic!("{what}: {error}"));
        wrote.retain(|row, body| head.rows.get(row) != body.as_ref());
        assert_eq!(done.committed, !wrote.is_empty(), "{what}");
        if done.committed {
            self.model.commit(branch, None, wrote);
            self.called(branch, &done);
        }
        true
    }

    pub(super) async fn load(
        &mut self,
        branch: usize,
        people: u8,
        ties: u16,
        mode: LoadMode,
    ) -> bool {
        let (data, wrote, there) = self.file(branch, people, ties, mode);
        let done = self.hand.load(branch, None, &data, mode).await;
        if mode == LoadMode::Append && there {
            assert!(matches!(done, Err(GraphError::Load(_))), "{done:?}");
            return false;
        }
        self.wrote(branch, done, wrote, &data)
    }

    pub(super) async fn load_new(
        &mut self,
        from: usize,
        people: u8,
        ties: u16,
        mode: LoadMode,
    ) -> bool {
        let (data, mut wrote, there) = self.file(from, people, ties, mode);
        let Some(new) = self.free() else {
            let taken = self.hand.load(1, Some(from), &data, mode).await;
            assert!(matches!(taken, Err(GraphError::BranchExists(_))), "{taken:?}");
            return false;
        };
        let done = self.hand.load(new, Some(from), &data, mode).await;
        let head = self.model.head(from);
        let mut rows = head.rows.clone();
        put(&mut rows, &wrote);
        if mode == LoadMode::Append && there {
            assert!(matches!(done, Err(GraphError::Load(_))), "{done:?}");
            return false;
        }
        if !head.facts.holds(&rows) {
            assert!(matches!(done, Err(GraphError::Exec(_))), "{data}: {done:?}");
            return false;
        }
        let done = done.unwrap_or_else(|error| panic!("{data}: {error}"));
        wrote.retain(|row, body| head.rows.get(row) != body.as_ref());
        self.stands(new, self.model.heads[from].expect("a branch"));
        // It is made with a commit, even of nothing.
        self.model.commit(new, None, wrote);
        self.called(new, &done);
        self.played.grown += 1;
        true
    }

    /// The number of a branch that is not there.
    fn free(&self) -> Option<usize> {
        let heads = &self.model.heads;
        (0..BRANCHES).find(|no| heads.get(*no).copied().flatten().is_none())
    }

    fn stands(&mut self, new: usize, at: usize) {
        let heads = &mut self.model.heads;
        heads.resize(heads.len().max(new + 1), None);
        heads[new] = Some(at);
    }

    /// A file, what it writes, and whether something of it is there.
    pub(super) fn file(
        &self,
        branch: usize,
        people: u8,
        ties: u16,
        mode: LoadMode,
    ) -> (String, Wrote, bool) {
        let head = self.model.head(branch);
        let (mut data, mut wrote) = (String::new(), Wrote::new());
        for no in (1..=PEOPLE).filter(|no| people & (1 << no) != 0) {
            let called = (people >> 5) % 3;
            let mut line = json!({"type": "Person", "data": {"slug": format!("p{no}"), head.facts.name(): called.to_string()}});
            let mut body = Body::from([("slug".to_owned(), json!(format!("p{no}")))]);
            if let Some(slot) =
                head.facts.slot("Person", "mail").filter(|_| head.facts.must("mail"))
            {
                line["data"]["mail"] = json!("0");
                body.insert(slot.to_owned(), json!("0"));
            }
            writeln!(data, "{line}").expect("writes");
            body.insert("name".to_owned(), json!(called.to_string()));
            wrote.insert(person(no), Some(body));
        }
        for bit in (0..9_u8).filter(|bit| ties & (1 << bit) != 0) {
            let (one, other) = (1 + bit / PEOPLE, 1 + bit % PEOPLE);
            let since = u8::from(ties & (1 << 12) != 0);
            let line = json!({"edge": "Knows", "from": format!("p{one}"), "to": format!("p{other}"), "data": {"since": since.to_string()}});
            writeln!(data, "{line}").expect("writes");
            wrote.insert(knows(one, other), Some(tie(one, other, since)));
        }
        let there = wrote.keys().any(|row| head.rows.contains_key(row));
        if mode == LoadMode::Overwrite {
            let rest = head.rows.keys().filter(|row| head.facts.shows(row));
            let rest: Vec<Row> = rest.filter(|row| !wrote.contains_key(*row)).cloned().collect();
            wrote.extend(rest.into_iter().map(|row| (row, None)));
        }
        (data, wrote, there)
    }

    pub(super) async fn fork(&mut self, from: usize, back: Option<u8>) -> bool {
        let Some(new) = self.free() else {
            let taken = self.hand.fork(1, At::Branch(name(from))).await;
            assert!(matches!(taken, Err(GraphError::BranchExists(_))), "{taken:?}");
            return false;
        };
        let head = self.model.heads[from].expect("a branch");
        let (at, from) = match back {
            Some(back) => {
                // Before the first schema there is nothing to look at.
                let commit = self.seen(from, back).max(1);
                (At::Commit(self.model.commits[commit].id.expect("an id")), commit)
            }
            None => (At::Branch(name(from)), head),
        };
        self.hand.fork(new, at).await.expect("a branch is made");
        self.stands(new, from);
        true
    }

    pub(super) async fn delete(&mut self, branch: usize) -> bool {
        let gone = self.hand.delete(branch).await;
        if branch == 0 {
            assert!(matches!(gone, Err(GraphError::Protected(_))), "{gone:?}");
            return false;
        }
        gone.expect("a branch goes");
        self.model.heads[branch] = None;
        true
    }

    pub(super) async fn schema(&mut self, branch: usize, change: Change, allow: bool) -> bool {
        let at = At::Branch(name(branch));
        let before = self.hand.stage.engine().schema_at(&self.hand.graph, &at).await.expect("one");
        let head = self.model.head(branch);
        let (facts, rows) = (head.facts.clone(), head.rows.clone());
        let source = facts.changed(change);
        let next = Schema::read(&source, Some(&before)).expect("it reads");
        let (same, next) = (next.digest() == before.digest(), Facts::of(&next));
        let done = self.hand.schema(branch, &source, allow).await;
        if facts.loses(&next) && !allow {
            assert!(matches!(done, Err(GraphError::Migration(_))), "{source}: {done:?}");
            return false;
        }
        if !next.holds(&rows) {
            // What comes and must be there is not asked of each row.
            let told = matches!(done, Err(GraphError::Exec(_)))
                || (change == Change::Must && matches!(done, Err(GraphError::Migration(_))));
            assert!(told, "{source}: {done:?}");
            return false;
        }
        let done = done.unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(done.committed, !same);
        if done.committed {
            self.committed_schema(branch, &done).await;
            assert_eq!(self.model.head(branch).facts, next);
        }
        true
    }
}

fn set(body: &mut Body, slot: &str, value: Option<serde_json::Value>) {
    match value {
        Some(value) => body.insert(slot.to_owned(), value),
        None => body.remove(slot),
    };
}

fn said(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

fn tie(one: u8, other: u8, since: u8) -> Body {
    let mut body = ends(one, other);
    body.insert("since".to_owned(), json!(since.to_string()));
    body
}

fn ends(one: u8, other: u8) -> Body {
    let end = |no: u8| json!(["Person", format!("p{no}")]);
    Body::from([("@from".to_owned(), end(one)), ("@to".to_owned(), end(other))])
}
