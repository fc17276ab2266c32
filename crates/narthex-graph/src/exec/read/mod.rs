//! Answering a query that looks.
//!
//! The clauses are put in order ([`order`]), then carried out one after the other, each on a whole
//! table of bindings with one call of the view a type ([`run`], [`find`], [`follow`], [`path`]).
//! Where it begins with all rows of a type, they come a page at a time and go on through all steps
//! page by page, so that nothing is held that is not part of the answer ([`output`]).

mod access;
mod cell;
mod find;
mod fold;
mod follow;
mod group;
mod level;
mod loaded;
mod machine;
mod order;
mod output;
mod path;
mod run;
mod score;
mod shape;
mod vars;

use narthex_store::GraphView;

pub(super) use access::{Access, access};
pub use cell::{Answer, AnswerColumn, Cell, Whole};
pub(super) use find::{SCAN_PAGE, keyed, range};
pub(super) use level::conjuncts;
#[cfg(test)]
pub(super) use vars::{binds, mentions, mentions_in};
pub(super) use vars::{loaded_vars, walk};

use self::level::EdgeStep;
use self::loaded::Needs;
use self::machine::{Machine, Slot, Table};
use self::order::{Op, pattern};
use self::output::Output;
use super::eval::{Eval, NoRow};
use super::{Context, Cursor, ExecError, Page};
use crate::query::{Expr, Read, VarNo};
use crate::value::Value;

/// Answers a query at the commit that the view is of.
pub async fn run_read(
    view: &mut dyn GraphView,
    context: &Context<'_>,
    read: &Read,
    page: &Page,
) -> Result<Answer, ExecError> {
    let commit = view.placed().commit.id;
    let mut context = *context;
    let mut offset = 0;
    if let Some(token) = &page.cursor {
        let cursor = Cursor::parse(token)?;
        context.now = cursor.check(&context, read, commit)?;
        offset = cursor.offset();
    }
    all_given(&context, read)?;
    let size = u64::from(page.size.max(1)).min(context.limits.answer_rows);
    let limit = limit(&context, read)?;
    let end = limit.min(offset.saturating_add(size));
    let mut output = Output::new(read, usize::try_from(end).unwrap_or(usize::MAX))?;

    let pattern = pattern(context.schema, read)?;
    let mut conditions = Vec::new();
    expressions_of(&pattern.ops, &mut conditions);
    let needs = Needs::of(context.schema, read, &pattern.vars, &conditions);
    let mut machine = Machine::new(view, context, &pattern.vars, needs);
    machine.prepare_scores(read).await?;
    fill(&mut machine, &pattern.ops, &mut output).await?;

    let narrow = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (rows, more) = output.finish(&machine, narrow(offset), narrow(end))?;
    let next = (more && end < limit).then(|| Cursor::at(&context, read, commit, end).token());
    let columns = read.columns.iter().map(|column| AnswerColumn {
        name: column.name.clone(),
        kind: column.kind.clone(),
        nullable: column.nullable,
    });
    Ok(Answer { columns: columns.collect(), rows, next })
}

/// Takes all bindings through the steps and into the output, or as many as it needs.
async fn fill(
    machine: &mut Machine<'_>,
    mut ops: &[Op],
    output: &mut Output<'_>,
) -> Result<(), ExecError> {
    while let Some((first @ Op::Filter(_), rest)) = ops.split_first() {
        // A condition on nothing but parameters is asked once.
        let start = vec![machine.start()];
        if machine.run(std::slice::from_ref(first), start).await?.is_empty() {
            return Ok(());
        }
        ops = rest;
    }
    match ops.split_first() {
        Some((Op::Bind { var, access: Access::Scan, join: None }, rest)) => {
            fill_from_nodes(machine, *var, rest, output).await
        }
        Some((Op::Edges(step), rest)) => fill_from_edges(machine, step, rest, output).await,
        _ => {
            let start = vec![machine.start()];
            go_on(machine, ops, start, output).await
        }
    }
}

/// From all nodes of some types, a page at a time.
async fn fill_from_nodes(
    machine: &mut Machine<'_>,
    var: VarNo,
    rest: &[Op],
    output: &mut Output<'_>,
) -> Result<(), ExecError> {
    let size = page_size(output);
    for no in machine.types(var)? {
        let mut after = None;
        while !output.is_full() {
            let page = machine.scan_page(*no, after, size).await?;
            let Some(last) = page.last() else { break };
            after = Some(*last);
            let table = page.into_iter().map(|row| {
                let mut binding = machine.start();
                binding.set(var, Slot::Node(*no, row));
                binding
            });
            let table = table.collect();
            go_on(machine, rest, table, output).await?;
        }
    }
    Ok(())
}

/// From all edges of a type, a page at a time.
async fn fill_from_edges(
    machine: &mut Machine<'_>,
    step: &EdgeStep,
    rest: &[Op],
    output: &mut Output<'_>,
) -> Result<(), ExecError> {
    let size = page_size(output);
    let bodies = step.var.is_some() && machine.needs.edge(step.edge);
    let (start, mut after) = ([machine.start()], None);
    while !output.is_full() {
        let page = machine.edge_page(step.edge, bodies, after, size).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.row);
        let table = machine.with_ends(&start, step, &page).await?;
        go_on(machine, rest, table, output).await?;
    }
    Ok(())
}

/// Takes one page through the other steps.
async fn go_on(
    machine: &mut Machine<'_>,
    rest: &[Op],
    table: Table,
    output: &mut Output<'_>,
) -> Result<(), ExecError> {
    let table = machine.run(rest, table).await?;
    output.take(machine, &table).await?;
    machine.loaded.trim();
    // Other queries want to go on too.
    tokio::task::yield_now().await;
    Ok(())
}

fn page_size(output: &Output<'_>) -> u32 {
    let wanted = output.enough().and_then(|enough| u32::try_from(enough).ok());
    wanted.map_or(SCAN_PAGE, |wanted| wanted.clamp(LEAST_PAGE, SCAN_PAGE))
}

/// Every parameter that the query speaks of must have a value, even if no row ever asks for it.
fn all_given(context: &Context<'_>, read: &Read) -> Result<(), ExecError> {
    let mut missing = None;
    for expr in vars::expressions(read).into_iter().chain(&read.limit) {
        walk(expr, &mut |of| match of {
            Expr::Param(number) if *number >= context.params.len() => missing = Some(*number),
            _ => {}
        });
    }
    missing.map_or(Ok(()), |number| Err(ExecError::MissingParam(number)))
}

fn limit(context: &Context<'_>, read: &Read) -> Result<u64, ExecError> {
    let Some(limit) = &read.limit else { return Ok(u64::MAX) };
    let eval = Eval { params: context.params, now: context.now };
    match &*eval.value(limit, &NoRow)? {
        Value::Int(number) => u64::try_from(*number).map_err(|_| {
            ExecError::Unsupported(format!("a limit is a number from 0 on, not {number}"))
        }),
        _ => Err(ExecError::Unsupported("a limit is a number from 0 on, not null".to_owned())),
    }
}

/// The conditions in these steps, and in those within them.
fn expressions_of<'o>(ops: &'o [Op], all: &mut Vec<&'o Expr>) {
    for op in ops {
        match op {
            Op::Filter(expr) => all.push(expr),
            Op::Not(ops) | Op::Optional(ops, _) => expressions_of(ops, all),
            Op::Or(ways, ..) => ways.iter().for_each(|ops| expressions_of(ops, all)),
            Op::Bind { .. } | Op::Follow(_) | Op::Path(..) | Op::Edges(_) => {}
        }
    }
}

/// A page is not smaller than this, however little is wanted: most rows may not be found good.
const LEAST_PAGE: u32 = 256;
