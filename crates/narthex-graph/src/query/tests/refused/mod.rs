//! What is wrong with a text, and what is said about it.

mod answers;
mod changes;
mod conditions;
mod patterns;
mod queries;

use crate::query::read;

/// A text; of its first problem the message, the line and column, and the help.
type Case = (&'static str, &'static str, (usize, usize), Option<&'static str>);

#[test]
fn every_problem_is_told_well() {
    let schema = super::schema();
    let tables =
        [patterns::CASES, conditions::CASES, answers::CASES, queries::CASES, changes::CASES];
    for (text, message, place, help) in tables.into_iter().flatten() {
        let found = read(text, &schema).expect_err(text);
        let first = &found[0];
        let got = (first.message.as_str(), (first.line, first.column), first.help.as_deref());
        assert_eq!(got, (*message, *place, *help), "{text}");
    }
}
