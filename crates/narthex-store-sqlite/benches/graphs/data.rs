//! The rows: people who know each other, and companies that nobody works at.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::Fallible;

/// How many rows there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) nodes: u64,
    pub(crate) edges: u64,
}

pub(crate) const SCHEMA: &str = "
node Person {
    slug: String @key
    name: String @index
    bio: String @index
    age: I32
    place: Vector(8)
}
node Company { slug: String @key }
edge Knows: Person -> Person { since: Date? }
";

/// Somebody who is not the next one.
pub(crate) const fn some(round: u64, of: u64) -> u64 {
    round.wrapping_mul(7_919) % of
}

/// How old somebody becomes, who was `n % 150`.
pub(crate) const fn age(n: u64, round: u64) -> u64 {
    (n + 1 + round % 100) % 150
}

/// What is said of somebody. One in a thousand has the same second word.
pub(crate) fn bio(n: u64, round: u64) -> String {
    format!("likes w{} and v{}", n % 997, (n + round) % 89)
}

/// Where somebody is.
pub(crate) fn place(n: u64) -> [f32; 8] {
    std::array::from_fn(|at| {
        let spread = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(at as u32 * 7) % 1_000;
        spread as f32 / 1_000.0
    })
}

pub(crate) fn person(n: u64, age: u64) -> String {
    let mut line = format!(
        r#"{{"type":"Person","data":{{"slug":"p{n}","name":"Person {n}","bio":"{}","age":{},"place":["#,
        bio(n, 0),
        age % 150
    );
    for (at, number) in place(n).iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(line, "{comma}{number}");
    }
    line.push_str("]}}\n");
    line
}

/// Both ends of an edge; no two are alike.
pub(crate) const fn ends(n: u64, size: Size) -> (u64, u64) {
    let from = n % size.nodes;
    (from, (from + 1 + n / size.nodes * 13) % size.nodes)
}

fn knows(n: u64, size: Size) -> String {
    let (from, to) = ends(n, size);
    let day = n % 28 + 1;
    format!(
        r#"{{"edge":"Knows","from":"p{from}","to":"p{to}","data":{{"since":"2026-01-{day:02}"}}}}"#
    )
}

/// Writes the file: nodes, a hundredth as many companies, edges.
pub(crate) fn write(path: &Path, size: Size) -> Fallible<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for n in 0..size.nodes {
        file.write_all(person(n, n).as_bytes())?;
    }
    for n in 0..size.nodes / 100 {
        writeln!(file, r#"{{"type":"Company","data":{{"slug":"c{n}"}}}}"#)?;
    }
    for n in 0..size.edges {
        writeln!(file, "{}", knows(n, size))?;
    }
    file.flush()?;
    Ok(())
}

/// A hundred people and what they become.
pub(crate) fn changed(size: Size, round: u64) -> Vec<(u64, u64)> {
    let count = 100.min(size.nodes);
    (0..count).map(|n| ((round * count + n) * 31 % size.nodes, 40 + round)).collect()
}
