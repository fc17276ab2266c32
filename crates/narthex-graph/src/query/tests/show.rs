//! Plans as short texts, for tables.

use crate::lang::shown;
use crate::query::{
    Aggregate, Body, Clause, Direction, Expr, Plan, PropertyNo, PropertyRef, Read, Statement,
    VarKind, VarNo,
};
use crate::schema::Schema;

/// What a plan does.
pub(super) fn show(plan: &Plan, schema: &Schema) -> String {
    match &plan.body {
        Body::Read(read) => Shown { schema, read: Some(read) }.read(read),
        Body::Write(all) => {
            let shown = Shown { schema, read: None };
            all.iter().map(|statement| shown.statement(statement)).collect::<Vec<_>>().join("; ")
        }
    }
}

struct Shown<'a> {
    schema: &'a Schema,
    read: Option<&'a Read>,
}

impl Shown<'_> {
    fn read(&self, read: &Read) -> String {
        let mut parts = vec![self.clauses(&read.clauses)];
        let columns = read.columns.iter().map(|column| {
            let kind = column.kind.as_ref().map_or("row".to_owned(), ToString::to_string);
            let null = if column.nullable { "?" } else { "" };
            format!("{}: {kind}{null} = {}", column.name, self.expr(&column.value))
        });
        let distinct = if read.distinct { "distinct " } else { "" };
        parts.push(format!("=> {distinct}{}", columns.collect::<Vec<_>>().join(", ")));
        if let Some(having) = &read.having {
            parts.push(format!("having {}", self.expr(having)));
        }
        for sort in &read.order {
            let desc = if sort.descending { " desc" } else { "" };
            parts.push(format!("by {}{desc}", self.expr(&sort.by)));
        }
        if let Some(limit) = &read.limit {
            parts.push(format!("limit {}", self.expr(limit)));
        }
        parts.join(" ")
    }

    fn clauses(&self, clauses: &[Clause]) -> String {
        let all = clauses.iter().map(|clause| self.clause(clause));
        all.collect::<Vec<_>>().join("; ")
    }

    fn clause(&self, clause: &Clause) -> String {
        match clause {
            Clause::Node { var, with } => {
                format!("{}:{}{}", self.var(*var), self.types(*var), self.with(with))
            }
            Clause::Edge { from, edge, direction, hops, var, with, to } => {
                let name = self.schema.edges[edge.0].step();
                let name = match direction {
                    Direction::Out => format!("-{name}->"),
                    Direction::In => format!("<-{name}-"),
                    Direction::Both => format!("<-{name}->"),
                };
                let hops = hops.map(|(a, b)| format!("{{{a},{b}}}")).unwrap_or_default();
                let var = var.map(|var| format!("[{}]", self.var(var))).unwrap_or_default();
                let with = self.with(with);
                format!(
                    "{} {name}{hops}{var}{with} {}:{}",
                    self.var(*from),
                    self.var(*to),
                    self.types(*to)
                )
            }
            Clause::Filter(expr) => self.expr(expr),
            Clause::Search { var, query, how, .. } => {
                format!("search {how:?} {} {}", self.var(*var), self.expr(query))
            }
            Clause::Not(inner) => format!("not {{ {} }}", self.clauses(inner)),
            Clause::Optional(inner) => format!("optional {{ {} }}", self.clauses(inner)),
            Clause::Or(ways) => {
                let ways = ways.iter().map(|way| format!("{{ {} }}", self.clauses(way)));
                ways.collect::<Vec<_>>().join(" or ")
            }
        }
    }

    fn with(&self, with: &[(PropertyRef, Expr)]) -> String {
        let all = with.iter().map(|(of, value)| format!("{}={}", numbers(of), self.expr(value)));
        if with.is_empty() {
            String::new()
        } else {
            format!("({})", all.collect::<Vec<_>>().join(","))
        }
    }

    fn var(&self, var: VarNo) -> String {
        let name = self.read.and_then(|read| read.vars[var.0].name.clone());
        name.unwrap_or_else(|| format!("_{}", var.0))
    }

    fn types(&self, var: VarNo) -> String {
        match &self.read.unwrap().vars[var.0].kind {
            VarKind::Node(types) => types
                .iter()
                .map(|no| self.schema.nodes[no.0].name.clone())
                .collect::<Vec<_>>()
                .join("|"),
            VarKind::Edge(edge) => self.schema.edges[edge.0].name.clone(),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        let list = |items: &[Expr]| {
            items.iter().map(|item| self.expr(item)).collect::<Vec<_>>().join(", ")
        };
        match expr {
            Expr::Const(crate::value::Value::List(items)) => {
                format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            Expr::Const(crate::value::Value::Vector(items)) => format!("vector{items:?}"),
            Expr::Const(crate::value::Value::Float(number)) => format!("{number:?}"),
            Expr::Const(value) => shown(value),
            Expr::Param(no) => format!("${no}"),
            Expr::Var(var) => self.var(*var),
            Expr::Property(var, of) => format!("{}.{}", self.var(*var), numbers(of)),
            Expr::Column(no) => format!("#{no}"),
            Expr::Unary(op, inner) => format!("{op:?}({})", self.expr(inner)),
            Expr::Binary(op, a, b) => format!("({} {op:?} {})", self.expr(a), self.expr(b)),
            Expr::Call(function, args) => format!("{function:?}({})", list(args)),
            Expr::List(items) => format!("list[{}]", list(items)),
            Expr::Fold(fold) => {
                let Aggregate { fold, over, distinct } = &**fold;
                let distinct = if *distinct { "distinct " } else { "" };
                let over = over.as_ref().map(|over| self.expr(over)).unwrap_or_default();
                format!("{fold:?}<{distinct}{over}>")
            }
        }
    }

    fn statement(&self, statement: &Statement) -> String {
        let set = |set: &[(crate::query::PropertyNo, Expr)]| {
            let all = set.iter().map(|(no, value)| format!("{}={}", no.0, self.expr(value)));
            all.collect::<Vec<_>>().join(", ")
        };
        let node = |no: &crate::query::NodeNo| self.schema.nodes[no.0].name.clone();
        let edge = |no: &crate::query::EdgeNo| self.schema.edges[no.0].name.clone();
        match statement {
            Statement::InsertNode { node: no, set: values } => {
                format!("insert {} {}", node(no), set(values))
            }
            Statement::InsertEdge { edge: no, from, to, set: values } => format!(
                "insert {} {}({}) -> {}({}) {}",
                edge(no),
                node(&from.0),
                self.expr(&from.1),
                node(&to.0),
                self.expr(&to.1),
                set(values)
            ),
            Statement::UpdateNode { node: no, set: values, filter } => {
                format!("update {} {} where {}", node(no), set(values), self.expr(filter))
            }
            Statement::UpdateEdge { edge: no, set: values, filter } => {
                format!("update {} {} where {}", edge(no), set(values), self.expr(filter))
            }
            Statement::DeleteNode { node: no, filter } => {
                format!("delete {} where {}", node(no), self.expr(filter))
            }
            Statement::DeleteEdge { edge: no, filter } => {
                format!("delete {} where {}", edge(no), self.expr(filter))
            }
        }
    }
}

fn numbers(of: &PropertyRef) -> String {
    let number = |no: &PropertyNo| match *no {
        PropertyNo::NONE => "-".to_owned(),
        PropertyNo(no) => no.to_string(),
    };
    of.0.iter().map(number).collect::<Vec<_>>().join("/")
}
