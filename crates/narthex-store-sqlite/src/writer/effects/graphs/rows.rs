//! Rows, the ends of edges, and what was superseded.

use narthex_store::{RowNo, RowWrite, Tag};
use sqlx::SqliteConnection;

use super::bulk::{Bulk, Values};
use super::commit::Onto;
use crate::fault::Fault;
use crate::graphs::list;

/// Moves what the line had of these rows to its history. Edges that go leave both their ends.
pub(super) async fn supersede(
    conn: &mut SqliteConnection,
    onto: Onto,
    writes: &[RowWrite],
) -> Result<(), Fault> {
    if onto.fresh {
        return Ok(());
    }
    for (tag, some) in by_tag(writes) {
        sqlx::query(
            "INSERT INTO graph_history (line, tag, row, until, seq, a, b, body)
             SELECT r.line, r.tag, r.row, ?4, r.seq, r.a, r.b, r.body
               FROM json_each(?3) k CROSS JOIN graph_rows r
                 ON r.line = ?1 AND r.tag = ?2 AND r.row = k.value",
        )
        .bind(onto.line)
        .bind(tag.0)
        .bind(numbers(some, |_| true))
        .bind(onto.seq)
        .execute(&mut *conn)
        .await?;
        let gone = |write: &RowWrite| write.body.is_none();
        if some.iter().any(gone) {
            sqlx::query(LEAVE_ENDS)
                .bind(onto.line)
                .bind(tag.0)
                .bind(numbers(some, gone))
                .execute(&mut *conn)
                .await?;
        }
    }
    Ok(())
}

/// Writes the rows as they are from now on, and notes where edges begin and end.
pub(super) async fn write(
    conn: &mut SqliteConnection,
    onto: Onto,
    writes: Vec<RowWrite>,
    ends: &mut Vec<Ends>,
) -> Result<(), Fault> {
    let there = writes.iter().filter(|write| write.body.is_some());
    ends.extend(there.filter_map(|write| write.ends.map(|(a, b)| (write.tag, a, b, write.row))));
    let put = |write: RowWrite, values: &mut Values<'_>| {
        values.add(write.tag.0)?;
        values.add(write.row.0)?;
        values.add(write.ends.map(|(a, _)| a.0))?;
        values.add(write.ends.map(|(_, b)| b.0))?;
        values.add(write.body)
    };
    rows(onto).run(conn, writes.into_iter(), put).await
}

/// Writes where edges begin and end. Each table is filled in its own order.
pub(super) async fn write_ends(
    conn: &mut SqliteConnection,
    onto: Onto,
    ends: &mut Vec<Ends>,
) -> Result<(), Fault> {
    ends.sort_unstable();
    from(onto).run(conn, ends.iter(), put_ends).await?;
    ends.sort_unstable_by_key(|(tag, a, b, row)| (*tag, *b, *a, *row));
    to(onto).run(conn, ends.iter(), put_ends).await?;
    ends.clear();
    Ok(())
}

/// The type of an edge, where it begins and ends, its number.
pub(super) type Ends = (Tag, RowNo, RowNo, RowNo);

fn put_ends((tag, a, b, row): &Ends, values: &mut Values<'_>) -> Result<(), Fault> {
    [tag.0, a.0, b.0, row.0].into_iter().try_for_each(|number| values.add(number))
}

/// The numbers of some of these.
pub(super) fn numbers(writes: &[RowWrite], which: impl Fn(&RowWrite) -> bool) -> String {
    list(writes.iter().filter(|write| which(write)).map(|write| write.row.0))
}

/// Runs of rows of one type.
pub(super) fn by_tag(writes: &[RowWrite]) -> Vec<(Tag, &[RowWrite])> {
    let runs = writes.chunk_by(|a, b| a.tag == b.tag);
    runs.filter_map(|some| some.first().map(|first| (first.tag, some))).collect()
}

fn rows(onto: Onto) -> Bulk {
    Bulk {
        before: "INSERT INTO graph_rows (line, seq, tag, row, a, b, body)
                 SELECT ?, ?, column1, column2, column3, column4, column5 FROM",
        columns: 5,
        // The ends of a row never change; one that goes need not say them again.
        after: "WHERE true ON CONFLICT (line, tag, row) DO UPDATE
                   SET seq = excluded.seq, body = excluded.body",
        first: vec![onto.line, onto.seq],
        last: Vec::new(),
    }
}

fn from(onto: Onto) -> Bulk {
    Bulk {
        before: "INSERT INTO graph_from (line, seq, tag, a, b, row)
                 SELECT ?, ?, column1, column2, column3, column4 FROM",
        columns: 4,
        after: "WHERE true ON CONFLICT (line, tag, a, b, row) DO UPDATE SET seq = excluded.seq",
        first: vec![onto.line, onto.seq],
        last: Vec::new(),
    }
}

fn to(onto: Onto) -> Bulk {
    Bulk {
        before: "INSERT INTO graph_to (line, seq, tag, a, b, row)
                 SELECT ?, ?, column1, column2, column3, column4 FROM",
        after: "WHERE true ON CONFLICT (line, tag, b, a, row) DO UPDATE SET seq = excluded.seq",
        ..from(onto)
    }
}

const LEAVE_ENDS: &str = "
    DELETE FROM graph_from WHERE (line, tag, a, b, row) IN
        (SELECT r.line, r.tag, r.a, r.b, r.row FROM json_each(?3) k CROSS JOIN graph_rows r
             ON r.line = ?1 AND r.tag = ?2 AND r.row = k.value WHERE r.a IS NOT NULL);
    DELETE FROM graph_to WHERE (line, tag, b, a, row) IN
        (SELECT r.line, r.tag, r.b, r.a, r.row FROM json_each(?3) k CROSS JOIN graph_rows r
             ON r.line = ?1 AND r.tag = ?2 AND r.row = k.value WHERE r.a IS NOT NULL)";
