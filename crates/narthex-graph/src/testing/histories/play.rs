//! A history on a stage and in the model, side by side.

use std::collections::BTreeSet;
use std::ops::Range;

use narthex_core::GraphId;
use narthex_store::{At, Clock as _, fresh_uuid};

use super::ask::{Hand, name};
use super::stage::owner;
use super::{Act, Change, Facts, Key, Model, Stage};
use crate::GraphError;
use crate::engine::Done;
use crate::exec::Limits;

/// What came of a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Played {
    /// Acts that were done.
    pub done: usize,
    /// Acts that were refused, as they had to be.
    pub refused: usize,
    /// Merges that made a commit.
    pub merged: usize,
    /// Questions that were answered.
    pub decided: usize,
    /// Merges in which rows met.
    pub met: usize,
    /// Changes that came too late.
    pub late: usize,
    /// Branches that a load made.
    pub grown: usize,
    /// Merges in which rows broke a rule, and that were resolved as that said.
    pub ruled: usize,
    /// Merges that made a commit although both sides had changed the schema.
    pub united: usize,
    /// Places in time that were before where a branch stands.
    pub earlier: usize,
}

impl Played {
    /// Whether everything came about that histories are played for. Panics if something did not:
    /// then nothing was proven about it.
    pub fn has_all(&self) {
        for (what, count) in [
            ("refused", self.refused),
            ("merged", self.merged),
            ("decided", self.decided),
            ("met", self.met),
            ("late", self.late),
            ("grown", self.grown),
            ("ruled", self.ruled),
            ("united", self.united),
            ("earlier", self.earlier),
        ] {
            assert!(count > 0, "nothing was {what}: {self:?}");
        }
    }
}

impl std::ops::AddAssign for Played {
    fn add_assign(&mut self, other: Self) {
        self.done += other.done;
        self.refused += other.refused;
        self.merged += other.merged;
        self.decided += other.decided;
        self.met += other.met;
        self.late += other.late;
        self.grown += other.grown;
        self.ruled += other.ruled;
        self.united += other.united;
        self.earlier += other.earlier;
    }
}

/// Plays a history. Panics where the stage does not hold what the model does.
pub async fn play<S: Stage>(stage: &mut S, acts: &[Act]) -> Played {
    let mut player = Player::new(stage).await;
    for (step, act) in acts.iter().enumerate() {
        let before = player.model.heads.clone();
        // Who says where a branch stands, and is right, changes it like anyone else.
        let on = act.changes().filter(|_| step % 2 == 1).map(|no| player.branch(no));
        player.hand.expected = on.and_then(|on| player.model.head(on).id);
        // Several commits of one moment, and some that a clock that was set back dates earlier.
        player.hand.stage.clock().set_wall_by(MOVES[step % MOVES.len()]);
        if player.act(act).await {
            player.played.done += 1;
        } else {
            player.played.refused += 1;
            assert_eq!(before, player.model.heads, "{act:?} was refused");
        }
        player.hand.expected = None;
        // Not after each: what went wrong is still wrong two steps later.
        if step % 3 == 2 {
            player.compare(&format!("{act:?}")).await;
            player.by_index(player.branch(step), step % 3..step % 3 + 1, &format!("{act:?}")).await;
        }
    }
    player.compare("all").await;
    for branch in (0..player.model.heads.len()).filter(|no| player.model.heads[*no].is_some()) {
        player.by_index(branch, 0..3, "all").await;
    }
    player.look_back().await;
    // Each for some of the histories: both look at very much.
    match acts.len() % 4 {
        0 => player.at_times().await,
        1 => player.diffs().await,
        _ => {}
    }
    player.played
}

/// Both, side by side.
pub(super) struct Player<'a, S> {
    pub(super) hand: Hand<'a, S>,
    pub(super) model: Model,
    pub(super) played: Played,
}

impl<'a, S: Stage> Player<'a, S> {
    async fn new(stage: &'a mut S) -> Self {
        let (id, space) = (GraphId::from_uuid(fresh_uuid()), stage.space());
        let slug: narthex_core::Slug = format!("g-{id}").parse().expect("a slug");
        let founded = stage.engine().found(slug.clone(), space, id, [7; 16], &owner());
        stage.commit(founded.write.expect("a write")).await.expect("founds");
        let graph = stage.engine().graphs().graph(&slug).await.expect("reads").expect("a graph");
        let hand = Hand { stage, graph, limits: Limits::default(), expected: None };
        let model = Model::new(Facts::default());
        let mut player = Self { hand, model, played: Played::default() };
        player.model.commits[0].at = Some(player.hand.stage.clock().now());
        player.model.commits[0].id = player
            .hand
            .stage
            .engine()
            .branch(&player.hand.graph, &name(0))
            .await
            .ok()
            .map(|of| of.commit);
        // `changed` makes what is not there: all but what every history needs.
        let source = Facts::default().changed(Change::Nick);
        let done = player.hand.schema(0, &source, false).await.expect("a schema");
        player.committed_schema(0, &done).await;
        player
    }

    async fn act(&mut self, act: &Act) -> bool {
        match *act {
            Act::Put(branch, no, person) => self.put(self.branch(branch), no, person).await,
            Act::Drop(branch, no) => self.drop(self.branch(branch), no).await,
            Act::Tie(branch, one, other, since) => {
                self.tie(self.branch(branch), one, other, since).await
            }
            Act::Untie(branch, one, other) => self.untie(self.branch(branch), one, other).await,
            Act::Call(branch, one, other, no, note) => {
                self.call(self.branch(branch), (one, other, no), note).await
            }
            Act::Like(branch, one, other) => self.like(self.branch(branch), one, other).await,
            Act::Pet(branch, no) => self.pet(self.branch(branch), no).await,
            Act::Load(branch, people, ties, mode) => {
                self.load(self.branch(branch), people, ties, mode).await
            }
            Act::LoadNew(from, people, ties, mode) => {
                self.load_new(self.branch(from), people, ties, mode).await
            }
            Act::Fork(from, back) => self.fork(self.branch(from), back).await,
            Act::Delete(branch) => self.delete(self.branch(branch)).await,
            Act::Merge(into, from, how, allow) => {
                self.merge((self.branch(into), self.branch(from)), how, allow).await
            }
            Act::Revert(branch, back) => self.revert(self.branch(branch), back).await,
            Act::Schema(branch, change, allow) => {
                self.schema(self.branch(branch), change, allow).await
            }
            Act::Stale(branch, back, what) => self.stale(self.branch(branch), back, what).await,
            Act::Reopen(clean) => {
                self.hand.stage.reopen(clean).await;
                true
            }
        }
    }

    /// One of the branches there are.
    pub(super) fn branch(&self, no: usize) -> usize {
        let there: Vec<usize> =
            (0..self.model.heads.len()).filter(|no| self.model.heads[*no].is_some()).collect();
        there[no % there.len()]
    }

    /// One of the commits that a branch has seen.
    pub(super) fn seen(&self, branch: usize, back: u8) -> usize {
        let seen: Vec<usize> = self.model.head(branch).before.iter().copied().collect();
        seen[usize::from(back) % seen.len()]
    }

    /// Takes down what the newest commit of a branch is called.
    pub(super) fn called(&mut self, branch: usize, done: &Done) {
        assert!(done.committed, "there is a commit");
        let head = self.model.heads[branch].expect("a branch");
        self.model.commits[head].id = done.commit;
        self.model.commits[head].at = Some(self.hand.stage.clock().now());
    }

    /// A commit that changed nothing but the schema.
    pub(super) async fn committed_schema(&mut self, branch: usize, done: &Done) {
        let at = At::Branch(name(branch));
        let schema = self.hand.stage.engine().schema_at(&self.hand.graph, &at).await;
        let facts = Facts::of(&schema.expect("a schema"));
        let whole = self.model.commit(branch, None, super::model::Wrote::new());
        (whole.facts, whole.bare) = (facts, true);
        self.called(branch, done);
    }

    /// What every type was ever stored under.
    fn types(&self) -> Vec<String> {
        let all = self.model.commits.iter();
        let pets = all.filter_map(|whole| whole.facts.type_slot("Pet"));
        let types: BTreeSet<&str> = pets.chain(["Person", "Knows", "Calls", "Likes"]).collect();
        types.into_iter().map(str::to_owned).collect()
    }

    /// Every branch holds what the model does.
    async fn compare(&self, after: &str) {
        let types = self.types();
        for (no, head) in self.model.heads.iter().enumerate() {
            let found = self.hand.stage.engine().branch(&self.hand.graph, &name(no)).await;
            let Some(head) = head else {
                assert!(matches!(found, Err(GraphError::NoBranch { .. })), "{found:?} {after}");
                continue;
            };
            let whole = &self.model.commits[*head];
            assert_eq!(found.ok().map(|of| of.commit), whole.id, "{} after {after}", name(no));
            let rows = self.hand.rows(&At::Branch(name(no)), &types).await.expect("rows");
            assert_eq!(rows, whole.rows, "{} after {after}", name(no));
        }
    }

    /// What is found by indexes and along edges is what the rows say.
    async fn by_index(&self, branch: usize, values: Range<usize>, after: &str) {
        let (rows, facts) = (&self.model.head(branch).rows, &self.model.head(branch).facts);
        let says = |slot: &str, value: &str| -> Vec<Vec<String>> {
            let is = |(row, body): (&super::Row, &crate::merge::Body)| match row.1 {
                Key::Node(no) if row.0 == "Person" => (body.get(slot).and_then(|of| of.as_str())
                    == Some(value))
                .then(|| vec![format!("p{no}")]),
                _ => None,
            };
            rows.iter().filter_map(is).collect()
        };
        let mut wanted = vec![("name".to_owned(), facts.name())];
        wanted.extend(facts.slot("Person", "nick").map(|slot| (slot.to_owned(), "nick")));
        for (slot, property) in wanted {
            for value in values.clone().map(|value| value.to_string()) {
                let source = format!(
                    "match {{ $p: Person {{ {property}: \"{value}\" }} }} return {{ $p.slug }} order {{ $p.slug }}"
                );
                let found = self.hand.ask(branch, &source).await;
                assert_eq!(found, says(&slot, &value), "{property} {value} after {after}");
            }
        }
        for (step, forth) in [("knows", true), ("<knows", false)] {
            let source = format!(
                "match {{ $p: Person  $p {step} $q }} return {{ $p.slug as a, $q.slug as b }} order {{ a, b }}"
            );
            let mut ties: Vec<Vec<String>> = (rows.keys())
                .filter(|row| row.0 == "Knows")
                .filter_map(|(_, key)| key.ends())
                .map(|[one, other]| if forth { (one, other) } else { (other, one) })
                .map(|(a, b)| vec![format!("p{a}"), format!("p{b}")])
                .collect();
            ties.sort();
            assert_eq!(self.hand.ask(branch, &source).await, ties, "{step} after {after}");
        }
    }

    /// Every commit that a branch has seen still shows what it did, and is in its log.
    async fn look_back(&self) {
        let types = self.types();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for (no, head) in self.model.heads.iter().enumerate() {
            let Some(head) = *head else { continue };
            seen.extend(&self.model.commits[head].before);
            let log = self.hand.stage.engine().log(&self.hand.graph, &name(no), None, 1_000).await;
            let log: Vec<_> =
                log.expect("a log").into_iter().map(|commit| Some(commit.id)).collect();
            let mut line = Some(head);
            while let Some(at) = line {
                assert!(
                    log.contains(&self.model.commits[at].id),
                    "{at} in the log of {}",
                    name(no)
                );
                line = self.model.commits[at].parent;
            }
        }
        for at in seen {
            let whole = &self.model.commits[at];
            let id = whole.id.expect("it was committed");
            let rows = self.hand.rows(&At::Commit(id), &types).await.expect("rows");
            assert_eq!(rows, whole.rows, "commit {at}");
        }
    }

    /// A branch at a time is what it was then.
    async fn at_times(&mut self) {
        let types = self.types();
        let mut times: Vec<_> = self.model.commits.iter().filter_map(|of| of.at).collect();
        times.sort_unstable();
        times.dedup();
        let first = times.first().map(|first| first.plus_millis(-1));
        // Some of them: each is looked at in some history.
        let times = first.into_iter().chain(times.into_iter().step_by(3));
        let times: Vec<_> = times.collect();
        for branch in 0..self.model.heads.len() {
            let Some(head) = self.model.heads[branch] else { continue };
            for time in &times {
                let at = At::Time(name(branch), *time);
                let Some(then) = self.model.at_time(branch, *time) else {
                    let nothing = self.hand.stage.engine().graphs().view(self.hand.graph.id, &at);
                    assert!(nothing.await.expect("reads").is_none(), "{at:?}");
                    continue;
                };
                let rows = self.hand.rows(&at, &types).await.expect("rows");
                assert_eq!(rows, self.model.commits[then].rows, "{at:?}");
                self.played.earlier += usize::from(then != head);
            }
        }
    }

    /// What differs between where branches stand and what they have seen is what the rows say.
    async fn diffs(&self) {
        let there: Vec<usize> = self.model.heads.iter().copied().flatten().collect();
        let seen: BTreeSet<usize> =
            there.iter().flat_map(|head| self.model.commits[*head].before.clone()).collect();
        let others: Vec<usize> = seen.into_iter().step_by(3).chain(there.iter().copied()).collect();
        for (turn, one) in there.iter().enumerate() {
            for other in others.iter().skip(turn % 2).step_by(2) {
                // Before the first schema nothing has a name.
                if *other == 0 {
                    continue;
                }
                for (one, other) in [(*one, *other), (*other, *one)] {
                    let found = self.hand.diff(self.id(one), self.id(other)).await;
                    assert_eq!(found, self.numbered(one, other), "from {one} to {other}");
                }
            }
        }
    }

    fn id(&self, commit: usize) -> narthex_core::CommitId {
        self.model.commits[commit].id.expect("it was committed")
    }

    fn numbered(&self, one: usize, other: usize) -> super::ask::Unlike {
        let unlike = self.model.diff(one, other).into_iter();
        unlike.map(|((slot, key), sides)| (self.hand.row_id(&slot, key), sides)).collect()
    }
}

/// By how much the clock moves before an act, in milliseconds.
const MOVES: [i64; 7] = [1, 0, 5, 2, -3, 0, 40];
