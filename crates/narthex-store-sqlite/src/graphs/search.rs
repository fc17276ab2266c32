//! Rows by the words in their texts. Only which they are: a full-text index counts over all
//! branches, and a score from it would tell of those that a view does not show.

use narthex_store::{RowNo, Tag};

use super::layers::Layers;
use super::pack::number;
use super::view::{Given, SqliteView};
use crate::fault::Fault;

impl SqliteView {
    pub(super) async fn with_words(
        &mut self,
        index: Tag,
        words: &[String],
        prefix: bool,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, Fault> {
        if !self.is_indexed(index).await? {
            return Ok(None);
        }
        let looked_for = looked_for(words, prefix);
        if looked_for.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let given =
            vec![Given::Number(index.0), Given::Text(looked_for), Given::Number(limit.into())];
        let graph = self.graph;
        let text = self.packed(given, |layers| search_sql(layers, graph)).await?;
        let hit = |row: &str| Ok(RowNo(number(row)?));
        text.split_terminator(';').map(hit).collect::<Result<_, Fault>>().map(Some)
    }
}

/// Every word as a text of its own, so that nothing in it is an operator.
fn looked_for(words: &[String], prefix: bool) -> String {
    let star = if prefix { " *" } else { "" };
    let quoted = |word: &String| {
        let plain: String =
            word.chars().map(|c| if c.is_ascii_control() { ' ' } else { c }).collect();
        (!plain.trim().is_empty()).then(|| format!("\"{}\"{star}", plain.replace('"', "\"\"")))
    };
    words.iter().filter_map(quoted).take(MOST_WORDS).collect::<Vec<_>>().join(" ")
}

/// `?1` is the index, `?2` what is looked for, `?3` how many. Only the graph's number goes into the
/// text of the statement. Each of the two full-text indexes is asked once, however many layers
/// there are.
pub(super) fn search_sql(layers: Layers<'_>, graph: i64) -> String {
    let arm = |fts: &str, texts: &str, seen: &[String]| {
        format!(
            "SELECT t.row AS row FROM {fts} CROSS JOIN {texts} t ON t.n = {fts}.rowid
              WHERE {fts} MATCH ?2 AND t.tag = ?1 AND ({})",
            seen.join(" OR ")
        )
    };
    let (mut current, mut superseded) = (Vec::new(), Vec::new());
    for (n, segment) in layers.segments.iter().enumerate() {
        let line = layers.line(n);
        let in_sight = layers.in_sight(n, "t.of", "t.row");
        let written = layers.written(n, segment, "t");
        current.push(format!("(t.line = ?{line}{written}{in_sight})"));
        if !segment.at_head {
            let lasted = layers.lasted(n, "t");
            superseded.push(format!("(t.line = ?{line}{lasted}{in_sight})"));
        }
    }
    let mut arms = arm(&format!("graph_fts_{graph}"), "graph_texts", &current);
    if !superseded.is_empty() {
        let old = arm(&format!("graph_fts_old_{graph}"), "graph_texts_old", &superseded);
        arms = format!("{arms} UNION ALL {old}");
    }
    format!("SELECT group_concat(row || ';', '') FROM ({arms} ORDER BY 1 LIMIT ?3)")
}

/// Looked for at once. Beyond it there is no more to tell texts apart by.
const MOST_WORDS: usize = 64;

#[cfg(test)]
mod tests {
    use super::looked_for;

    #[test]
    fn whatever_is_in_a_word_is_text() {
        let words =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (given, prefix, expected) in [
            (words(&["a", "b"]), false, "\"a\" \"b\""),
            (words(&["a"]), true, "\"a\" *"),
            (words(&["x\"y", "OR"]), false, "\"x\"\"y\" \"OR\""),
            (words(&["", " ", "\u{0}"]), false, ""),
        ] {
            assert_eq!(looked_for(&given, prefix), expected);
        }
    }
}
