//! Patterns: clauses with numbers for names.

use std::collections::{BTreeMap, BTreeSet};

use super::bindings::{Binding, Bound, bindings, nodes};
use super::call::any;
use super::names::{Bare, Names, Place, Row};
use super::{Expressions, Query};
use crate::Span;
use crate::lang::{Ast, Bounds, Word};
use crate::query::ast::{ClauseAst, With};
use crate::query::{
    BinaryOp, Clause, EdgeNo, Expr, Function, NodeNo, PropertyRef, SearchHow, Var, VarKind, VarNo,
};

/// The variables of a query as they become known.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "it is what they are")]
pub(super) struct Vars<'a> {
    /// By number.
    pub(super) vars: Vec<Var>,
    /// What each stands for, by number.
    pub(super) rows: Vec<Row<'a>>,
    /// The edges that some clause has bound on the way here.
    pub(super) bound: BTreeSet<VarNo>,
}

/// The variables that have a name in a block.
pub(super) type Visible = BTreeMap<String, VarNo>;

impl<'a, 's> Query<'a, '_, 's> {
    /// Checks a block, and says what is visible behind it.
    pub(super) fn block(
        &mut self,
        clauses: &[ClauseAst],
        outer: &Visible,
        vars: &mut Vars<'a>,
    ) -> (Vec<Clause>, Visible) {
        let mut visible = outer.clone();
        for binding in bindings(self.schema, clauses) {
            let name = binding.name.clone();
            visible.entry(name).or_insert_with(|| self.new_var(&binding, vars));
        }
        let mut checked = Vec::with_capacity(clauses.len());
        for clause in clauses {
            self.clause(clause, &visible, vars, &mut checked);
        }
        if vars.vars.len() > Bounds::VARS {
            let message = format!("a query has at most {} variables", Bounds::VARS);
            self.problems.say(Span::default(), message);
        }
        (checked, visible)
    }

    pub(super) fn new_var(&self, binding: &Binding, vars: &mut Vars<'a>) -> VarNo {
        let no = VarNo(vars.vars.len());
        let kind = match &binding.what {
            Bound::Node(types) => VarKind::Node(types.iter().flatten().copied().collect()),
            Bound::Edge(edge) => VarKind::Edge(edge.unwrap_or(EdgeNo(usize::MAX))),
        };
        let named = binding.name != "_";
        let name = named.then(|| binding.name.clone());
        vars.rows.push(Row { name: name.clone(), ..self.row(&kind, binding.optional) });
        vars.vars.push(Var { name, kind });
        no
    }

    /// What a variable of this kind has.
    pub(super) fn row(&self, kind: &VarKind, nullable: bool) -> Row<'a> {
        match kind {
            VarKind::Node(types) => {
                let types = types.iter().filter_map(|no| self.schema.nodes.get(no.0));
                let types: Vec<_> = types.collect();
                Row {
                    name: None,
                    label: labels(types.iter().map(|node| node.name.as_str())),
                    called: types.iter().map(|node| node.name.as_str()).collect(),
                    types: types.iter().map(|node| node.properties.as_slice()).collect(),
                    keys: types.iter().map(|node| node.key).collect(),
                    edge: false,
                    nullable,
                }
            }
            VarKind::Edge(no) => {
                let edge = self.schema.edges.get(no.0);
                Row {
                    name: None,
                    label: edge.map(|edge| edge.name.clone()).unwrap_or_default(),
                    called: Vec::new(),
                    types: edge.iter().map(|edge| edge.properties.as_slice()).collect(),
                    keys: Vec::new(),
                    edge: true,
                    nullable,
                }
            }
        }
    }

    fn clause(
        &mut self,
        clause: &ClauseAst,
        visible: &Visible,
        vars: &mut Vars<'a>,
        into: &mut Vec<Clause>,
    ) {
        match clause {
            ClauseAst::Node { var, of, with } => {
                into.extend(self.node(var, of, with, visible, vars));
            }
            ClauseAst::Edge(edge) => into.extend(self.edge(edge, visible, vars)),
            ClauseAst::Filter(ast) => {
                if let Some(expr) = self.expressions(visible, vars).condition(ast) {
                    self.filter(expr, vars, visible, into);
                }
            }
            ClauseAst::Not(inner) => {
                let bound = vars.bound.clone();
                into.push(Clause::Not(self.block(inner, visible, vars).0));
                vars.bound = bound;
            }
            ClauseAst::Optional(inner) => {
                into.push(Clause::Optional(self.block(inner, visible, vars).0));
            }
            ClauseAst::Or(ways) => {
                let before = vars.bound.clone();
                let mut after = before.clone();
                let mut checked = Vec::with_capacity(ways.len());
                for way in ways {
                    vars.bound.clone_from(&before);
                    checked.push(self.block(way, visible, vars).0);
                    after.append(&mut vars.bound);
                }
                vars.bound = after;
                into.push(Clause::Or(checked));
            }
        }
    }

    /// A condition. What is joined by `and` becomes several, so that each holds as early as it can.
    fn filter(&mut self, expr: Expr, vars: &Vars<'a>, visible: &Visible, into: &mut Vec<Clause>) {
        if let Expr::Binary(BinaryOp::And, left, right) = expr {
            self.filter(*left, vars, visible, into);
            self.filter(*right, vars, visible, into);
            return;
        }
        into.push(match self.search(expr, vars, visible) {
            Ok(search) => search,
            Err(expr) => Clause::Filter(expr),
        });
    }

    /// A search by an index, if that is what a condition is.
    fn search(&mut self, expr: Expr, vars: &Vars<'a>, visible: &Visible) -> Result<Clause, Expr> {
        let check = self.expressions(visible, vars);
        let Expr::Call(function @ (Function::MatchText | Function::Fuzzy), args) = &expr else {
            return Err(expr);
        };
        let [of @ Expr::Property(var, property), query] = args.as_slice() else {
            return Err(expr);
        };
        let of_row = |expr: &Expr| matches!(expr, Expr::Var(_) | Expr::Property(..));
        let node = vars.rows.get(var.0).is_some_and(|row| !row.edge);
        if !node || any(query, &of_row) || !check.is_indexed(of) {
            return Err(expr);
        }
        let how = match function {
            Function::Fuzzy => SearchHow::Fuzzy,
            _ => SearchHow::Words,
        };
        Ok(Clause::Search { var: *var, property: property.clone(), query: query.clone(), how })
    }

    fn node(
        &mut self,
        var: &Word,
        of: &Word,
        with: &With,
        visible: &Visible,
        vars: &mut Vars<'a>,
    ) -> Option<Clause> {
        let no = self.place(var, Bound::Node(nodes(self.schema, &of.name)), visible, vars)?;
        let types = self.node_types(of)?;
        let Some(VarKind::Node(can)) = vars.vars.get(no.0).map(|var| &var.kind) else {
            self.problems.say(var.span, format!("`${}` is an edge", var.name));
            return None;
        };
        if !can.iter().any(|no| types.contains(no)) {
            let label = vars.rows.get(no.0).map(|row| row.label.clone()).unwrap_or_default();
            let message = format!("`${}` is {label}, and cannot be {}", var.name, of.name);
            self.problems.say(of.span, message);
            return None;
        }
        if !can.iter().all(|no| types.contains(no)) {
            let message = format!("`${}` can be more than {} around this block", var.name, of.name);
            let help = format!("say `${}: {}` outside of the block", var.name, of.name);
            let problem = self.problems.at(of.span, message).help(help);
            self.problems.add(problem);
            return None;
        }
        let with = self.with(no, with, visible, vars)?;
        Some(Clause::Node { var: no, with })
    }

    /// The node types that a name stands for.
    fn node_types(&mut self, of: &Word) -> Option<BTreeSet<NodeNo>> {
        let found = nodes(self.schema, &of.name);
        if found.is_none() {
            let name = of.name.as_str();
            let problem = if self.schema.interface(name).is_some() {
                self.problems.at(of.span, format!("no node has the interface `{name}`"))
            } else if let Some(edge) = self.schema.edge(name) {
                let problem = self.problems.at(of.span, format!("`{name}` is an edge"));
                problem.help(format!("write `$a {} $b`", edge.step()))
            } else {
                let known = self.schema.nodes.iter().map(|node| node.name.as_str());
                let more = self.schema.interfaces.iter().map(|of| of.name.as_str());
                let problem = self.problems.at(of.span, format!("there is no node type `{name}`"));
                problem.nearest(name, known.chain(more))
            };
            self.problems.add(problem);
        }
        found
    }

    /// The number of a variable, a new one for `$_`.
    pub(super) fn place(
        &mut self,
        word: &Word,
        what: Bound,
        visible: &Visible,
        vars: &mut Vars<'a>,
    ) -> Option<VarNo> {
        if self.params.iter().any(|param| param.name == word.name) {
            let message = format!("`${}` is a parameter, and no node or edge", word.name);
            let problem = self.problems.at(word.span, message);
            self.problems.add(problem.help("give the variable another name"));
            return None;
        }
        if word.name == "_" {
            let binding = Binding { name: word.name.clone(), what, optional: false };
            return Some(self.new_var(&binding, vars));
        }
        visible.get(&word.name).copied()
    }

    /// What a node or an edge must have.
    pub(super) fn with(
        &mut self,
        var: VarNo,
        with: &With,
        visible: &Visible,
        vars: &Vars<'a>,
    ) -> Option<Vec<(PropertyRef, Expr)>> {
        let mut seen = BTreeSet::new();
        let mut check = self.expressions(visible, vars);
        let mut checked = Vec::with_capacity(with.len());
        for (word, value) in with {
            if !seen.insert(&word.name) {
                check.problems.say(word.span, format!("`{}` is given twice", word.name));
            }
            checked.push(check.equal(var, word, value));
        }
        checked.into_iter().collect()
    }

    /// What types expressions in a block.
    fn expressions<'x>(
        &'x mut self,
        visible: &'x Visible,
        vars: &'x Vars<'a>,
    ) -> Expressions<'x, 'x, 's> {
        let names = Names {
            params: self.params,
            rows: &vars.rows,
            vars: visible,
            bare: Bare::Nothing,
            place: Place::Match,
        };
        Expressions { names, problems: self.problems, used: self.used }
    }
}

impl Expressions<'_, '_, '_> {
    /// A property that is equal to a value.
    fn equal(&mut self, var: VarNo, word: &Word, value: &Ast) -> Option<(PropertyRef, Expr)> {
        let property = self.property(var, word, word.span);
        let value = self.typed(value)?;
        if value.expr == Expr::Const(crate::value::Value::Null) {
            let help = format!("write `$x.{} is null`", word.name);
            return self.wrong_help(value.span, "nothing is equal to null", help);
        }
        let span = word.span.to(value.span);
        let compared = self.comparison(BinaryOp::Equal, property?, value, span)?;
        match compared.expr {
            Expr::Binary(_, left, right) => match *left {
                Expr::Property(_, property) => Some((property, *right)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Types as a message names them.
pub(super) fn labels<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<&str> = names.collect();
    match all.as_slice() {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [some @ .., last] if all.len() <= 4 => format!("{} and {last}", some.join(", ")),
        [first, ..] => format!("{first} and {} others", all.len() - 1),
    }
}
