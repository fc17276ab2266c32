//! Edges in patterns.

use std::collections::BTreeSet;

use super::Query;
use super::bindings::{Binding, Bound, ends, nodes, step};
use super::pattern::{Vars, Visible, labels};
use crate::diagnostic::nearest;
use crate::lang::Word;
use crate::query::ast::EdgeAst;
use crate::query::{Clause, Direction, EdgeNo, NodeNo, VarKind, VarNo};

impl<'a> Query<'a, '_, '_> {
    /// A clause that follows an edge.
    pub(super) fn edge(
        &mut self,
        ast: &EdgeAst,
        visible: &Visible,
        vars: &mut Vars<'a>,
    ) -> Option<Clause> {
        let Some((edge, found)) = step(self.schema, &ast.edge.name) else {
            return self.unknown_edge(&ast.edge);
        };
        let (left, right) = ends(self.schema, found, ast.direction);
        let from = self.end(&ast.from, (left.as_ref(), "begins", ast), visible, vars);
        let to = self.end(&ast.to, (right.as_ref(), "ends", ast), visible, vars);
        let (from, to) = (from?, to?);
        self.goes_on(ast, edge)?;
        let named = ast.var.as_ref().filter(|var| var.name != "_");
        let var = match named {
            Some(word) => Some(self.edge_var(word, edge, visible, vars)?),
            None => None,
        };
        let (var, with) = match (var, ast.with.is_empty()) {
            (var, true) => (var, Vec::new()),
            (Some(var), false) => (Some(var), self.with(var, &ast.with, visible, vars)?),
            (None, false) => {
                // What it must have is spoken of like any property: of a variable without a name.
                let hidden = Binding {
                    name: "_".to_owned(),
                    what: Bound::Edge(Some(edge)),
                    optional: false,
                };
                let no = self.new_var(&hidden, vars);
                (Some(no), self.with(no, &ast.with, visible, vars)?)
            }
        };
        let (direction, hops) = (ast.direction, ast.hops.filter(|hops| *hops != (1, 1)));
        Some(Clause::Edge { from, edge, direction, hops, var, with, to })
    }

    fn unknown_edge<T>(&mut self, word: &Word) -> Option<T> {
        let name = &word.name;
        let steps: Vec<String> =
            self.schema.edges.iter().map(crate::schema::EdgeType::step).collect();
        let problem = self.problems.at(word.span, format!("there is no edge `{name}`"));
        let problem = match self.schema.edge(name) {
            Some(edge) => problem.help(format!("an edge is followed as `{}`", edge.step())),
            None => match nearest(name, steps.iter().map(String::as_str)) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            },
        };
        self.problems.add(problem);
        None
    }

    /// A node at an end of an edge.
    fn end(
        &mut self,
        word: &Word,
        (can, verb, ast): (Option<&BTreeSet<NodeNo>>, &str, &EdgeAst),
        visible: &Visible,
        vars: &mut Vars<'a>,
    ) -> Option<VarNo> {
        let no = self.place(word, Bound::Node(can.cloned()), visible, vars)?;
        let (name, edge) = (&word.name, &ast.edge.name);
        let Some(can) = can else {
            self.problems.say(ast.edge.span, format!("there are no nodes where `{edge}` {verb}"));
            return None;
        };
        match vars.vars.get(no.0).map(|var| &var.kind) {
            Some(VarKind::Node(types)) if types.is_empty() => None,
            Some(VarKind::Node(types)) if types.iter().any(|no| can.contains(no)) => Some(no),
            Some(VarKind::Node(_)) => {
                let is = vars.rows.get(no.0).map(|row| row.label.clone()).unwrap_or_default();
                let nodes = can.iter().filter_map(|no| self.schema.nodes.get(no.0));
                let at = labels(nodes.map(|node| node.name.as_str()));
                let way = match ast.direction {
                    Direction::Out => format!("`{edge}` {verb} at {at}"),
                    Direction::In => format!("`<{edge}` {verb} at {at}"),
                    Direction::Both => format!("`<{edge}>` is between {at}"),
                };
                self.problems.say(word.span, format!("{way}, and `${name}` is {is}"));
                None
            }
            _ => {
                self.problems.say(word.span, format!("`${name}` is an edge, and no end of one"));
                None
            }
        }
    }

    /// Whether an edge that is followed several times can be.
    fn goes_on(&mut self, ast: &EdgeAst, edge: EdgeNo) -> Option<()> {
        let several = ast.hops.is_some_and(|(_, most)| most > 1);
        let found = self.schema.edges.get(edge.0)?;
        let (from, to) = (nodes(self.schema, &found.from)?, nodes(self.schema, &found.to)?);
        if several && ast.direction != Direction::Both && from.is_disjoint(&to) {
            let message = format!(
                "`{}` ends at {}, where none begins: there is no second hop",
                ast.edge.name, found.to
            );
            self.problems.say(ast.edge.span, message);
            return None;
        }
        Some(())
    }

    fn edge_var(
        &mut self,
        word: &Word,
        edge: EdgeNo,
        visible: &Visible,
        vars: &mut Vars<'a>,
    ) -> Option<VarNo> {
        let no = self.place(word, Bound::Edge(Some(edge)), visible, vars)?;
        let message = match vars.vars.get(no.0).map(|var| &var.kind) {
            Some(VarKind::Edge(is)) if *is == edge => {
                if vars.bound.insert(no) {
                    return Some(no);
                }
                format!("`${}` is another edge already", word.name)
            }
            Some(VarKind::Edge(_)) => {
                let is = vars.rows.get(no.0).map(|row| row.label.as_str()).unwrap_or_default();
                format!("`${}` is an edge of type {is} already", word.name)
            }
            _ => format!("`${}` is a node, and cannot be an edge too", word.name),
        };
        self.problems.say(word.span, message);
        None
    }
}
