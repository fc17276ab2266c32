//! Histories made by chance, against a model that copies everything at every commit.

use std::collections::BTreeMap;

use narthex_core::CommitId;
use serde_json::json;

use super::Backend;
use super::net::{BY_TEXT, BY_VALUE, EDGE, NODE, Net, edge, edges, gone, indexed, named, new_line};
use crate::{
    At, GraphView, GraphWrite, IndexRange, Layer, LineNo, RowNo, RowWrite, Side, StoredRow, Tag,
};

pub async fn any_history_reads_as_a_model_of_it(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let mut model = Model::new(&net).await;
    for step in 0..STEPS {
        if model.chance.under(5) == 0 {
            model.fork(&net, step).await;
        } else {
            model.commit(&net).await;
        }
        if step % 10 == 9 {
            model.look(&net).await;
        }
    }
}

/// What is in a row: a node's value and word, or nothing but the ends of an edge.
#[derive(Debug, Clone, PartialEq)]
struct Version {
    line: LineNo,
    seq: u64,
    said: Option<(u64, u64)>,
}

type Rows = BTreeMap<(Tag, i64), Version>;

struct Model {
    chance: Chance,
    branches: Vec<(String, LineNo)>,
    /// What is to be seen at each commit; a line begins at 0.
    at: BTreeMap<(LineNo, u64), Rows>,
    /// What each line itself had written by then.
    own: BTreeMap<(LineNo, u64), Rows>,
    /// What it wrote with that commit.
    wrote: BTreeMap<(LineNo, u64), Vec<(Tag, i64)>>,
    heads: BTreeMap<LineNo, u64>,
    commits: Vec<(CommitId, LineNo, u64)>,
}

impl Model {
    async fn new(net: &Net) -> Self {
        let main = net.branch("main").await;
        Self {
            chance: Chance(7),
            branches: vec![("main".to_owned(), main.line)],
            at: [((main.line, 0), Rows::new()), ((main.line, 1), Rows::new())].into(),
            own: [((main.line, 0), Rows::new()), ((main.line, 1), Rows::new())].into(),
            wrote: BTreeMap::new(),
            heads: [(main.line, 1)].into(),
            commits: vec![(main.commit, main.line, 1)],
        }
    }

    async fn commit(&mut self, net: &Net) {
        let (name, line) = self.any_branch();
        let head = self.heads[&line];
        let seq = head + 1;
        let mut at = self.at[&(line, head)].clone();
        let mut own = self.own[&(line, head)].clone();
        let mut writes: BTreeMap<(Tag, i64), RowWrite> = BTreeMap::new();
        for _ in 0..=self.chance.under(4) {
            let write = self.any_write(&own);
            writes.insert((write.tag, write.row.0), write);
        }
        for (name, write) in &writes {
            let said = write.body.as_ref().map(|_| said(write));
            let version = Version { line, seq, said };
            if version.said.is_some() {
                at.insert(*name, version.clone());
            } else {
                at.remove(name);
            }
            own.insert(*name, version);
        }
        self.wrote.insert((line, seq), writes.keys().copied().collect());
        let id = net.commit(&name, writes.into_values().collect()).await;
        self.at.insert((line, seq), at);
        self.own.insert((line, seq), own);
        self.heads.insert(line, seq);
        self.commits.push((id, line, seq));
    }

    /// A row in another state, with what the line's own indexes have of it.
    fn any_write(&mut self, own: &Rows) -> RowWrite {
        let value = self.chance.under(VALUES);
        let word = self.chance.under(WORDS);
        let goes = self.chance.under(4) == 0;
        let write = if self.chance.under(2) == 0 {
            let row = i64::try_from(self.chance.under(NODES)).unwrap();
            let words = format!("w{word} all");
            let mut write = indexed(row, &json!(value), &words);
            if let Some(Version { said: Some((before, _)), .. }) = own.get(&(NODE, row)) {
                write.unindex = vec![(BY_VALUE, json!(before))];
            }
            write
        } else {
            let row = i64::try_from(self.chance.under(EDGES)).unwrap();
            edge(row, row % 5, row % 3)
        };
        if goes { gone(write) } else { write }
    }

    async fn fork(&mut self, net: &Net, step: usize) {
        let (_, from) = self.any_branch();
        let upto = self.heads[&from] - self.chance.under(3).min(self.heads[&from]);
        let name = format!("b{step}");
        let line = new_line(net.graph, &name, (from, upto));
        // There is nothing before the first commit, and too deep is too deep.
        let Ok(done) = net.write(GraphWrite::Branch(line)).await else { return };
        self.at.insert((done.line, 0), self.at[&(from, upto)].clone());
        self.own.insert((done.line, 0), Rows::new());
        self.heads.insert(done.line, 0);
        self.branches.push((name, done.line));
    }

    fn any_branch(&mut self) -> (String, LineNo) {
        let n = usize::try_from(self.chance.under(self.branches.len() as u64)).unwrap();
        self.branches[n].clone()
    }

    async fn look(&mut self, net: &Net) {
        for (name, line) in self.branches.clone() {
            let mut view = net.look(&At::Branch(named(&name))).await.unwrap();
            same(&mut *view, &self.at[&(line, self.heads[&line])]).await;
            self.same_writes(&mut *view).await;
        }
        for _ in 0..12 {
            let n = usize::try_from(self.chance.under(self.commits.len() as u64)).unwrap();
            let (id, line, seq) = self.commits[n];
            let mut view = net.look(&At::Commit(id)).await.unwrap();
            same(&mut *view, &self.at[&(line, seq)]).await;
        }
    }

    /// What lines wrote themselves does not depend on where one stands.
    async fn same_writes(&mut self, view: &mut dyn GraphView) {
        let (_, line) = self.any_branch();
        let head = self.heads[&line];
        let (after, upto) = (self.chance.under(head + 1), self.chance.under(head + 1));
        let mut expected: Vec<(Tag, RowNo)> = (after + 1..=upto)
            .filter_map(|seq| self.wrote.get(&(line, seq)))
            .flatten()
            .map(|(tag, row)| (*tag, RowNo(*row)))
            .collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(view.touched(&[(line, after, upto)]).await.unwrap(), expected);
        let rows: Vec<(Tag, RowNo)> = everything().collect();
        let writes = view.writes(&[Layer { line, upto }], &rows).await.unwrap();
        assert_eq!(versions(writes), self.own[&(line, upto)], "{line:?} {upto}");
    }
}

/// A view against what is to be seen, by every way there is to look.
async fn same(view: &mut dyn GraphView, expected: &Rows) {
    let place = format!("{:?}", view.placed().layers);
    for tag in [NODE, EDGE] {
        let of_tag: Rows = expected
            .iter()
            .filter(|(name, _)| name.0 == tag)
            .map(|(n, v)| (*n, v.clone()))
            .collect();
        let numbers: Vec<RowNo> = everything().filter(|name| name.0 == tag).map(|n| n.1).collect();
        assert_eq!(versions(view.rows(tag, &numbers).await.unwrap()), of_tag, "rows {place}");
        assert_eq!(versions(view.scan(tag, None, 999).await.unwrap()), of_tag, "scan {place}");
        let half = view.scan(tag, Some(RowNo(2)), 3).await.unwrap();
        let names = half.iter().map(|row| row.row.0).collect::<Vec<_>>();
        let later = of_tag.keys().map(|name| name.1).filter(|row| *row > 2).take(3);
        assert_eq!(names, later.collect::<Vec<_>>(), "a step {place}");
    }
    let rows_where = |test: &dyn Fn((Tag, i64), &Version) -> bool| {
        let found = expected.iter().filter(|(name, version)| test(**name, version));
        found.map(|(name, _)| name.1).collect::<Vec<_>>()
    };
    for end in 0..5 {
        let from = edges(view, Side::From, &[end]).await;
        assert_eq!(from, rows_where(&|(tag, row), _| tag == EDGE && row % 5 == end), "{place}");
        let to = edges(view, Side::To, &[end]).await;
        assert_eq!(to, rows_where(&|(tag, row), _| tag == EDGE && row % 3 == end), "{place}");
    }
    for value in 0..VALUES {
        let is = |range: IndexRange, test: fn(u64, u64) -> bool| (range, test);
        let at_least = IndexRange::Between { low: Some((json!(value), true)), high: None };
        for (range, test) in [
            is(IndexRange::Any(vec![json!(value)]), |is, value| is == value),
            is(at_least, |is, value| is >= value),
        ] {
            let found = view.index(BY_VALUE, &range, 999).await.unwrap().unwrap();
            let mut found: Vec<i64> = found.iter().map(|row| row.0).collect();
            found.sort_unstable();
            let fits = |(tag, _), version: &Version| {
                tag == NODE && version.said.is_some_and(|(is, _)| test(is, value))
            };
            assert_eq!(found, rows_where(&fits), "{range:?} {place}");
        }
    }
    for word in 0..WORDS {
        let words = [format!("w{word}"), "all".to_owned()];
        let found = view.search(BY_TEXT, &words, false, 999).await.unwrap().unwrap();
        let mut found: Vec<i64> = found.iter().map(|row| row.0).collect();
        found.sort_unstable();
        let fits = |(tag, _), version: &Version| {
            tag == NODE && version.said.is_some_and(|(_, is)| is == word)
        };
        assert_eq!(found, rows_where(&fits), "{words:?} {place}");
    }
}

fn everything() -> impl Iterator<Item = (Tag, RowNo)> {
    let nodes = (0..NODES).map(|row| (NODE, RowNo(i64::try_from(row).unwrap())));
    nodes.chain((0..EDGES).map(|row| (EDGE, RowNo(i64::try_from(row).unwrap()))))
}

fn versions(rows: Vec<StoredRow>) -> Rows {
    let version = |row: StoredRow| {
        let said = row.body.as_deref().map(said_by);
        ((row.tag, row.row.0), Version { line: row.line, seq: row.seq, said })
    };
    rows.into_iter().map(version).collect()
}

fn said(write: &RowWrite) -> (u64, u64) {
    said_by(write.body.as_deref().unwrap())
}

/// A node's body is its value and its words; an edge has nothing to say.
fn said_by(body: &str) -> (u64, u64) {
    let Ok((value, words)) = serde_json::from_str::<(u64, String)>(body) else { return (0, 0) };
    let word = words.split(' ').next().unwrap();
    (value, word[1..].parse().unwrap())
}

/// Numbers that look random and are the same every time.
struct Chance(u64);

impl Chance {
    fn under(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

const STEPS: usize = 100;
const NODES: u64 = 7;
const EDGES: u64 = 9;
const VALUES: u64 = 4;
const WORDS: u64 = 4;
