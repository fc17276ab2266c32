//! Rules over one row: what its values may be, and what must hold between them.

use super::{Found, Of, Row};
use crate::exec::eval::check_holds;
use crate::exec::{Context, ExecError, ViolationKind};
use crate::rows::{self, check_edge, check_node};

pub(super) fn check(
    context: &Context<'_>,
    rows: &[Row<'_>],
    found: &mut Found,
) -> Result<(), ExecError> {
    for row in rows {
        let Some(after) = &row.after else { continue };
        let (problems, checks) = match &after.of {
            Of::Node(node) => (check_node(node, &after.values), &node.checks),
            Of::Edge(edge, _) => (check_edge(edge, &after.values), &edge.checks),
        };
        for rows::Violation { property, why } in problems {
            let message = why.to_string();
            let what = ViolationKind::Value { property, message };
            found.push(after.violation(row.tag, row.row, what));
        }
        for check in checks {
            let message = match check_holds(check, &after.values, context.now) {
                Ok(true) => continue,
                Ok(false) => None,
                // The values are at fault, not the query: no value would do.
                Err(error @ (ExecError::DivisionByZero | ExecError::Overflow(_))) => {
                    Some(error.to_string())
                }
                Err(error) => return Err(error),
            };
            let what = ViolationKind::Check { source: check.source.clone(), message };
            found.push(after.violation(row.tag, row.row, what));
        }
    }
    Ok(())
}
