//! One graph: its lines, their commits, and every version of every row.

use std::collections::BTreeMap;
use std::sync::Arc;

use narthex_core::{AgentId, BranchName, CommitId, Digest, Timestamp};
use narthex_store::{
    At, Branch, Commit, GraphCommit, GraphDone, GraphInfo, GraphWrite, IndexBuild, Layer, LineNo,
    NewLine, Placed, Refused, RowNo, RowWrite, StoreError, Tag,
};

use super::MemoryView;

/// A graph in memory. A view of it is a clone, and so shows one moment.
#[derive(Debug, Clone)]
pub struct MemoryGraph {
    pub(super) state: Arc<State>,
}

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) info: GraphInfo,
    pub(super) lines: BTreeMap<LineNo, Line>,
    pub(super) versions: BTreeMap<(LineNo, Tag, RowNo), Vec<Version>>,
    pub(super) schemas: BTreeMap<[u8; 32], String>,
    /// Since which commit a line has an index that came into being on it, and whether nothing lies
    /// under it that should be in it and is not.
    builds: BTreeMap<(LineNo, Tag), (u64, bool)>,
}

#[derive(Debug, Clone)]
pub(super) struct Line {
    /// None once the branch was dropped.
    pub(super) name: Option<BranchName>,
    /// What it was called first and last.
    called: BranchName,
    pub(super) fork: Option<(LineNo, u64)>,
    owner: Option<AgentId>,
    protected: bool,
    created: Timestamp,
    pub(super) commits: Vec<Commit>,
}

/// What a commit made of a row, and what the indexes have of it.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) seq: u64,
    pub(super) ends: Option<(RowNo, RowNo)>,
    pub(super) body: Option<String>,
    pub(super) index: Vec<(Tag, serde_json::Value)>,
    pub(super) texts: Vec<(Tag, String)>,
}

impl MemoryGraph {
    /// A graph with its first commit, on `main`, which is protected.
    pub fn found(graph: GraphInfo, commit: Commit, schema: String) -> Result<Self, StoreError> {
        let line = LineNo(1);
        let name = "main".parse().map_err(|_| StoreError::Damaged("main is no name".into()))?;
        let mut state = State {
            info: graph,
            lines: BTreeMap::new(),
            versions: BTreeMap::new(),
            schemas: BTreeMap::from([(*commit.schema.as_bytes(), schema)]),
            builds: BTreeMap::new(),
        };
        let created = commit.at;
        let commit = placed_on(commit, line, 1);
        let main = Line {
            called: BranchName::clone(&name),
            name: Some(name),
            fork: None,
            owner: None,
            protected: true,
            created,
            commits: vec![commit],
        };
        state.lines.insert(line, main);
        Ok(Self { state: Arc::new(state) })
    }

    /// Makes a change, whole or not at all.
    pub fn apply(&mut self, write: GraphWrite) -> Result<GraphDone, StoreError> {
        let mut state = State::clone(&self.state);
        let line = match write {
            GraphWrite::Found { .. } => return Err(Refused::GraphExists.into()),
            GraphWrite::Remove { .. } => return Err(Refused::NotFound("graph").into()),
            GraphWrite::Branch(new) => state.branch(new)?,
            GraphWrite::DropBranch { line, head, .. } => {
                state.at_head(line, head)?;
                if state.named(line)?.fork.is_none() {
                    return Err(Refused::RootBranch.into());
                }
                state.named(line)?.name = None;
                line
            }
            GraphWrite::Protect { line, protected, .. } => {
                state.named(line)?.protected = protected;
                line
            }
            GraphWrite::Commit(commit) => state.commit(commit)?,
        };
        self.state = Arc::new(state);
        Ok(self.done(line))
    }

    /// Where a line stands.
    pub(super) fn done(&self, line: LineNo) -> GraphDone {
        let seq = self.state.lines.get(&line).map_or(0, Line::head);
        GraphDone { line, seq, commit: self.state.standing(line, seq).map(|commit| commit.id) }
    }

    /// What it is.
    pub fn info(&self) -> &GraphInfo {
        &self.state.info
    }

    /// Its branches, by name.
    pub fn branches(&self) -> Vec<Branch> {
        let mut branches: Vec<Branch> =
            self.state.lines.keys().filter_map(|line| self.state.as_branch(*line)).collect();
        branches.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        branches
    }

    /// The branch that a line is, or was.
    pub fn branch_of(&self, line: LineNo) -> Option<Branch> {
        self.state.was_branch(line)
    }

    /// All its commits.
    pub fn commits(&self) -> impl Iterator<Item = &Commit> {
        self.state.lines.values().flat_map(|line| &line.commits)
    }

    /// The commits that a branch sees, newest first, from before this one on.
    pub fn log(
        &self,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Option<Vec<Commit>> {
        let placed = self.state.place(&At::Branch(branch.clone()))?;
        let mut commits = Vec::new();
        for layer in placed.layers {
            let own = &self.state.lines.get(&layer.line)?.commits;
            commits.extend(own.iter().rev().filter(|commit| commit.seq <= layer.upto).cloned());
        }
        let from = before.and_then(|before| commits.iter().position(|of| of.id == before));
        let after = from.map_or(0, |at| at + 1);
        Some(commits.into_iter().skip(after).take(limit as usize).collect())
    }

    /// The text of a schema that was in force.
    pub fn schema(&self, schema: Digest) -> Option<&str> {
        self.state.schemas.get(schema.as_bytes()).map(String::as_str)
    }

    /// A look at it. None if there is no such branch or commit, or nothing yet at that time.
    pub fn view(&self, at: &At) -> Option<MemoryView> {
        Some(MemoryView::new(self.state.clone(), self.state.place(at)?))
    }
}

impl State {
    fn branch(&mut self, new: NewLine) -> Result<LineNo, StoreError> {
        if self.lines.values().any(|line| line.name.as_ref() == Some(&new.name)) {
            return Err(Refused::BranchExists.into());
        }
        let from = self.lines.get(&new.from.0).ok_or(Refused::NotFound("commit"))?;
        if from.head() < new.from.1 {
            return Err(Refused::NotFound("commit").into());
        }
        // One that is forked before its parent's first commit sees what its parent was forked from.
        let from = match from.fork {
            Some(fork) if new.from.1 == 0 => fork,
            _ => new.from,
        };
        let no = LineNo(self.lines.keys().map(|line| line.0).max().unwrap_or(0) + 1);
        let line = Line {
            called: new.name.clone(),
            name: Some(new.name),
            fork: Some(from),
            owner: new.owner,
            protected: new.protected,
            created: new.created,
            commits: Vec::new(),
        };
        self.lines.insert(no, line);
        Ok(no)
    }

    fn commit(&mut self, write: GraphCommit) -> Result<LineNo, StoreError> {
        let line = match write.new_line {
            Some(new) if write.head == 0 => self.branch(new)?,
            Some(_) => return Err(unfit("a new branch has no commits yet")),
            None => write.commit.line,
        };
        self.at_head(line, write.head)?;
        let seq = write.head + 1;
        if write.commit.seq != seq {
            return Err(unfit("its number is not the next on its branch"));
        }
        let commit = placed_on(write.commit, line, seq);
        if commit.seen.get(&line) != Some(&seq) {
            return Err(unfit("it does not say that it has seen itself"));
        }
        let on = self.standing(line, write.head).map(|commit| commit.id);
        if commit.parents.first() != on.as_ref() {
            return Err(unfit("it was made on another commit than the branch stands at"));
        }
        if let Some(text) = write.schema {
            self.schemas.entry(*commit.schema.as_bytes()).or_insert(text);
        } else if !self.schemas.contains_key(commit.schema.as_bytes()) {
            return Err(unfit("its schema is not known"));
        }
        self.named(line)?.commits.push(commit);
        for page in write.rows.into_pages() {
            for row in page? {
                self.row(line, seq, row)?;
            }
        }
        for build in write.builds {
            self.build(line, seq, build);
        }
        Ok(line)
    }

    fn row(&mut self, line: LineNo, seq: u64, write: RowWrite) -> Result<(), StoreError> {
        let versions = self.versions.entry((line, write.tag, write.row)).or_default();
        let before = versions.last();
        if before.is_some_and(|before| before.seq == seq) {
            return Err(unfit("it writes a row twice"));
        }
        let had = before.map(|before| before.index.as_slice()).unwrap_or_default();
        if write.unindex.iter().any(|entry| !had.contains(entry)) {
            return Err(StoreError::Damaged("the index never had that".into()));
        }
        versions.push(Version {
            seq,
            ends: write.ends,
            body: write.body,
            index: write.index,
            texts: write.texts.into_iter().map(|text| (text.index, text.words)).collect(),
        });
        Ok(())
    }

    fn build(&mut self, line: LineNo, seq: u64, build: IndexBuild) {
        let mut under = self.layers(line, seq).into_iter().skip(1);
        let alone = under.all(|layer| {
            let keys = self
                .versions
                .iter()
                .filter(|((on, tag, _), _)| (*on, *tag) == (layer.line, build.of));
            keys.flat_map(|(_, versions)| versions).all(|version| version.seq > layer.upto)
        });
        self.builds.insert((line, build.index), (seq, alone));
        let own = self.versions.iter_mut().filter(|((on, _, _), _)| *on == line);
        let mut last: BTreeMap<RowNo, &mut Version> =
            own.filter_map(|((_, _, row), of)| Some((*row, of.last_mut()?))).collect();
        for (row, value) in build.entries {
            if let Some(version) = last.get_mut(&row) {
                version.index.push((build.index, value));
            }
        }
        for (row, words) in build.texts {
            if let Some(version) = last.get_mut(&row) {
                version.texts.push((build.index, words));
            }
        }
    }

    fn named(&mut self, line: LineNo) -> Result<&mut Line, StoreError> {
        let found = self.lines.get_mut(&line).filter(|line| line.name.is_some());
        found.ok_or_else(|| Refused::NoSuchBranch.into())
    }

    fn at_head(&mut self, line: LineNo, head: u64) -> Result<(), StoreError> {
        let is = self.named(line)?.head();
        if is == head { Ok(()) } else { Err(Refused::HeadMoved { head: is }.into()) }
    }

    /// The commit that a line stands at after this many of its own.
    fn standing(&self, line: LineNo, upto: u64) -> Option<&Commit> {
        let on = self.lines.get(&line)?;
        match on.commits.iter().rev().find(|commit| commit.seq <= upto) {
            Some(commit) => Some(commit),
            None => on.fork.and_then(|(line, upto)| self.standing(line, upto)),
        }
    }

    fn as_branch(&self, no: LineNo) -> Option<Branch> {
        self.lines.get(&no).filter(|line| line.name.is_some())?;
        self.was_branch(no)
    }

    fn was_branch(&self, no: LineNo) -> Option<Branch> {
        let line = self.lines.get(&no)?;
        Some(Branch {
            line: no,
            name: line.called.clone(),
            head: line.head(),
            commit: self.standing(no, line.head())?.id,
            fork: line.fork,
            owner: line.owner,
            protected: line.protected,
            created: line.created,
        })
    }

    fn place(&self, at: &At) -> Option<Placed> {
        let named = |name: &BranchName| {
            self.lines.iter().find(|(_, line)| line.name.as_ref() == Some(name))
        };
        let (line, upto) = match at {
            At::Branch(name) => named(name).map(|(no, line)| (*no, line.head()))?,
            At::Commit(id) => {
                let mut all = self.lines.values().flat_map(|line| &line.commits);
                all.find(|commit| commit.id == *id).map(|commit| (commit.line, commit.seq))?
            }
            At::Time(name, time) => self.at_time(*named(name)?.0, u64::MAX, *time)?,
        };
        Some(Placed {
            commit: self.standing(line, upto)?.clone(),
            line,
            head: self.lines.get(&line)?.head(),
            layers: self.layers(line, upto),
        })
    }

    /// Where a line (up to a commit of it) stood at a time.
    fn at_time(&self, line: LineNo, upto: u64, time: Timestamp) -> Option<(LineNo, u64)> {
        let on = self.lines.get(&line)?;
        let mut own = on.commits.iter().rev().filter(|commit| commit.seq <= upto);
        match (own.find(|commit| commit.at <= time), on.fork) {
            (Some(commit), _) => Some((line, commit.seq)),
            (None, Some((line, upto))) => self.at_time(line, upto, time),
            (None, None) => None,
        }
    }

    fn layers(&self, line: LineNo, upto: u64) -> Vec<Layer> {
        let mut layers = vec![Layer { line, upto }];
        let mut fork = self.lines.get(&line).and_then(|line| line.fork);
        while let Some((line, upto)) = fork {
            layers.push(Layer { line, upto });
            fork = self.lines.get(&line).and_then(|line| line.fork);
        }
        layers
    }

    /// What a line itself last wrote of a row, up to a commit.
    pub(super) fn written(&self, layer: Layer, tag: Tag, row: RowNo) -> Option<&Version> {
        let versions = self.versions.get(&(layer.line, tag, row))?;
        versions.iter().rev().find(|version| version.seq <= layer.upto)
    }

    /// Whether all that these layers show is in an index. One that came into being on a line says
    /// it for all that see that line; one that never did was there from the first row on.
    pub(super) fn is_indexed(&self, layers: &[Layer], index: Tag) -> bool {
        let mut built = layers.iter().filter_map(|layer| {
            let (seq, alone) = self.builds.get(&(layer.line, index))?;
            Some(*seq <= layer.upto && *alone)
        });
        built.next().unwrap_or(true)
    }
}

impl Line {
    pub(super) fn head(&self) -> u64 {
        self.commits.last().map_or(0, |commit| commit.seq)
    }
}

/// A commit as it lies on its line.
fn placed_on(mut commit: Commit, line: LineNo, seq: u64) -> Commit {
    if let Some(own) = commit.seen.remove(&LineNo(0)) {
        commit.seen.insert(line, own);
    }
    Commit { line, seq, ..commit }
}

fn unfit(why: &'static str) -> StoreError {
    Refused::UnfitCommit(why).into()
}
