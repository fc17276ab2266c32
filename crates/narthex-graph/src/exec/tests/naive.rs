//! What a query means, found by trying everything: every assignment of every variable.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{GraphView as _, RowNo};

use super::world::{World, wait};
use crate::exec::ExecError;
use crate::exec::eval::{Eval, Scope};
use crate::query::{Clause, Direction, EdgeNo, Expr, NodeNo, PropertyRef, Read, VarKind, VarNo};
use crate::rows::{EdgeBody, decode};
use crate::value::{Value, fuzzy_all, matches_all};

/// A row: a node of a type, or an edge with its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Thing {
    Node(NodeNo, RowNo),
    Edge(EdgeNo, RowNo, RowNo, RowNo),
    Null,
}

/// What variables stand for. Edges without a variable are under a number of their clause.
type Env = BTreeMap<(usize, bool), Thing>;

pub(super) struct Naive<'w> {
    world: &'w World,
    read: &'w Read,
    nodes: BTreeMap<(NodeNo, RowNo), Vec<Value>>,
    edges: BTreeMap<(EdgeNo, RowNo), (RowNo, RowNo, Vec<Value>)>,
    /// How many clauses were met, to name edges without variables.
    nameless: std::cell::Cell<usize>,
}

impl<'w> Naive<'w> {
    pub(super) fn new(world: &'w World, read: &'w Read) -> Self {
        let mut view = world.view();
        let mut naive = Self {
            world,
            read,
            nodes: BTreeMap::new(),
            edges: BTreeMap::new(),
            nameless: std::cell::Cell::new(0),
        };
        for (no, node) in world.schema.nodes.iter().enumerate() {
            for row in wait(view.scan(node.tag(), None, u32::MAX)).unwrap() {
                let values = decode(&node.properties, row.body.as_ref().unwrap()).unwrap();
                naive.nodes.insert((NodeNo(no), row.row), values);
            }
        }
        for (no, edge) in world.schema.edges.iter().enumerate() {
            for row in wait(view.scan(edge.tag(), None, u32::MAX)).unwrap() {
                let body = EdgeBody::decode(&edge.properties, row.body.as_ref().unwrap()).unwrap();
                let (from, to) = row.ends.unwrap();
                naive.edges.insert((EdgeNo(no), row.row), (from, to, body.values));
            }
        }
        naive
    }

    /// The values of the columns, for every way the pattern holds; in no order.
    pub(super) fn rows(&self) -> Vec<Vec<Value>> {
        let eval = Eval { params: &self.world.params, now: World::now() };
        let envs = self.all(&self.read.clauses, &Env::new());
        let mut rows = Vec::new();
        for env in envs {
            let scope = Of { naive: self, env: &env };
            let columns = self.read.columns.iter();
            rows.push(
                columns.map(|of| eval.value(&of.value, &scope).unwrap().into_owned()).collect(),
            );
        }
        rows
    }

    fn all(&self, clauses: &[Clause], env: &Env) -> Vec<Env> {
        let mut envs = vec![env.clone()];
        for clause in clauses {
            envs = match clause {
                Clause::Node { var, with } => self.each_node(envs, *var, |env| {
                    with.iter().all(|(property, value)| self.is_equal(env, *var, property, value))
                }),
                Clause::Edge { from, edge, direction, hops: Some(hops), to, .. } => {
                    let envs = self.each_node(envs, *from, |_| true);
                    self.each_node(envs, *to, |env| {
                        let (Some(a), Some(b)) = (row(env, *from), row(env, *to)) else {
                            return false;
                        };
                        self.is_way(*edge, *direction, a, b, hops.0, hops.1, &mut Vec::new())
                    })
                }
                Clause::Edge { from, edge, direction, hops: None, var, to, .. } => {
                    let envs = self.each_node(envs, *from, |_| true);
                    let envs = self.each_node(envs, *to, |_| true);
                    self.each_edge(envs, *from, *edge, *direction, *var, *to)
                }
                _ => envs,
            };
        }
        // What an edge must have, once it is there.
        for clause in clauses {
            if let Clause::Edge { var: Some(var), with, .. } = clause {
                envs.retain(|env| {
                    with.iter().all(|(property, value)| self.is_equal(env, *var, property, value))
                });
            }
        }
        for clause in clauses {
            if let Clause::Or(ways) = clause {
                envs = envs.iter().flat_map(|env| self.either(ways, env)).collect();
            }
        }
        for clause in clauses {
            if let Clause::Optional(inner) = clause {
                envs = envs.into_iter().flat_map(|env| self.perhaps(inner, env)).collect();
            }
        }
        for clause in clauses {
            match clause {
                Clause::Filter(expr) => envs.retain(|env| self.holds(env, expr)),
                Clause::Search { var, property, query, how } => envs.retain(|env| {
                    let text = self.value(env, &Expr::Property(*var, property.clone()));
                    match (text, self.value(env, query)) {
                        (Value::Text(text), Value::Text(query)) => match how {
                            crate::query::SearchHow::Words => matches_all(&text, &query),
                            crate::query::SearchHow::Fuzzy => fuzzy_all(&text, &query),
                        },
                        _ => false,
                    }
                }),
                Clause::Not(inner) => envs.retain(|env| self.all(inner, env).is_empty()),
                _ => {}
            }
        }
        envs
    }

    fn either(&self, ways: &[Vec<Clause>], env: &Env) -> Vec<Env> {
        let mut found = BTreeSet::new();
        for way in ways {
            for mut of in self.all(way, env) {
                // What was only used inside, and edges without a name, tell nothing apart.
                of.retain(|var, _| env.contains_key(var) || self.is_outside(ways, *var));
                for var in ways.iter().flat_map(|way| any_bound(way)) {
                    if self.is_outside(ways, (var.0, true)) {
                        of.entry((var.0, true)).or_insert(Thing::Null);
                    }
                }
                found.insert(of.into_iter().collect::<Vec<_>>());
            }
        }
        found.into_iter().map(|of| of.into_iter().collect()).collect()
    }

    /// Whether a variable of an `or` is spoken of outside of it.
    fn is_outside(&self, ways: &[Vec<Clause>], (var, named): (usize, bool)) -> bool {
        let inside: usize = ways
            .iter()
            .map(|way| crate::exec::read::mentions(way).get(&VarNo(var)).copied().unwrap_or(0))
            .sum();
        let all = crate::exec::read::mentions_in(self.read).get(&VarNo(var)).copied().unwrap_or(0);
        named && all > inside
    }

    fn perhaps(&self, inner: &[Clause], env: Env) -> Vec<Env> {
        let found = self.all(inner, &env);
        if !found.is_empty() {
            return found;
        }
        let mut env = env;
        for var in any_bound(inner) {
            env.entry((var.0, true)).or_insert(Thing::Null);
        }
        vec![env]
    }

    fn each_node(&self, envs: Vec<Env>, var: VarNo, keep: impl Fn(&Env) -> bool) -> Vec<Env> {
        let VarKind::Node(types) = &self.read.vars[var.0].kind else { panic!("no node") };
        let mut next = Vec::new();
        for env in envs {
            if let Some(thing) = env.get(&(var.0, true)) {
                if matches!(thing, Thing::Node(no, _) if types.contains(no)) && keep(&env) {
                    next.push(env);
                }
                continue;
            }
            for (no, row) in self.nodes.keys().filter(|(no, _)| types.contains(no)) {
                let mut env = env.clone();
                env.insert((var.0, true), Thing::Node(*no, *row));
                if keep(&env) {
                    next.push(env);
                }
            }
        }
        next
    }

    fn each_edge(
        &self,
        envs: Vec<Env>,
        from: VarNo,
        edge: EdgeNo,
        direction: Direction,
        var: Option<VarNo>,
        to: VarNo,
    ) -> Vec<Env> {
        self.nameless.set(self.nameless.get() + 1);
        let name = var.map_or((self.nameless.get(), false), |var| (var.0, true));
        let mut next = Vec::new();
        for env in envs {
            let (Some(a), Some(b)) = (row(&env, from), row(&env, to)) else { continue };
            for ((_, number), (x, y, _)) in self.edges.range((edge, RowNo(i64::MIN))..) {
                let out = (*x, *y) == (a, b) && direction != Direction::In;
                let back = (*x, *y) == (b, a) && direction != Direction::Out;
                let thing = Thing::Edge(edge, *number, *x, *y);
                let same = env.get(&name).is_none_or(|is| *is == thing);
                if self.edges.contains_key(&(edge, *number)) && (out || back) && same {
                    let mut env = env.clone();
                    env.insert(name, thing);
                    next.push(env);
                }
            }
        }
        next
    }

    /// Whether a way of so many edges leads from here to there, taking none twice.
    #[expect(clippy::too_many_arguments, reason = "it calls itself with all of them")]
    fn is_way(
        &self,
        edge: EdgeNo,
        direction: Direction,
        at: RowNo,
        end: RowNo,
        min: u32,
        max: u32,
        taken: &mut Vec<RowNo>,
    ) -> bool {
        if taken.len() >= min as usize && at == end {
            return true;
        }
        if taken.len() >= max as usize {
            return false;
        }
        for ((no, number), (x, y, _)) in &self.edges {
            if *no != edge || taken.contains(number) {
                continue;
            }
            let mut next = Vec::new();
            if direction != Direction::In && *x == at {
                next.push(*y);
            }
            if direction != Direction::Out && *y == at {
                next.push(*x);
            }
            for far in next {
                taken.push(*number);
                let found = self.is_way(edge, direction, far, end, min, max, taken);
                taken.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    fn is_equal(&self, env: &Env, var: VarNo, property: &PropertyRef, value: &Expr) -> bool {
        let is = self.value(env, &Expr::Property(var, property.clone()));
        is.compare(&self.value(env, value)) == Some(std::cmp::Ordering::Equal)
    }

    fn holds(&self, env: &Env, expr: &Expr) -> bool {
        self.value(env, expr) == Value::Bool(true)
    }

    fn value(&self, env: &Env, expr: &Expr) -> Value {
        let eval = Eval { params: &self.world.params, now: World::now() };
        eval.value(expr, &Of { naive: self, env }).unwrap().into_owned()
    }
}

struct Of<'s> {
    naive: &'s Naive<'s>,
    env: &'s Env,
}

impl Scope for Of<'_> {
    fn property(&self, var: VarNo, property: &PropertyRef) -> Result<Cow<'_, Value>, ExecError> {
        let kind = &self.naive.read.vars[var.0].kind;
        Ok(match (self.env.get(&(var.0, true)), kind) {
            (Some(Thing::Node(no, row)), VarKind::Node(types)) => {
                let at = types.iter().position(|of| of == no).unwrap();
                Cow::Borrowed(&self.naive.nodes[&(*no, *row)][property.0[at].0])
            }
            (Some(Thing::Edge(no, row, ..)), _) => {
                Cow::Borrowed(&self.naive.edges[&(*no, *row)].2[property.0[0].0])
            }
            _ => Cow::Owned(Value::Null),
        })
    }

    fn identity(&self, var: VarNo) -> Result<Value, ExecError> {
        Ok(row(self.env, var).map_or(Value::Null, |row| Value::Int(row.0.into())))
    }
}

/// What these clauses bind in one way or another.
fn any_bound(clauses: &[Clause]) -> BTreeSet<VarNo> {
    let mut bound = crate::exec::read::binds(clauses);
    for clause in clauses {
        match clause {
            Clause::Or(ways) => bound.extend(ways.iter().flat_map(|way| any_bound(way))),
            Clause::Optional(inner) => bound.extend(any_bound(inner)),
            _ => {}
        }
    }
    bound
}

fn row(env: &Env, var: VarNo) -> Option<RowNo> {
    match env.get(&(var.0, true))? {
        Thing::Node(_, row) | Thing::Edge(_, row, ..) => Some(*row),
        Thing::Null => None,
    }
}
