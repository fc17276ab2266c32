//! How well texts match: `bm25`, and `rrf` over several rankings.

use std::collections::{BTreeSet, HashMap};

use narthex_store::RowNo;

use super::machine::{Machine, Slot, let_others};
use super::vars::{expressions, walk};
use crate::exec::ExecError;
use crate::exec::eval::NoRow;
use crate::query::{Expr, Function, NodeNo, Read, VarNo};
use crate::rows::Decoder;
use crate::value::{Value, query_words, words};

/// The scores that a query asks for, each looked up once for all rows.
#[derive(Debug, Default)]
pub(super) struct Scores {
    /// By the arguments of the call.
    known: Vec<(Vec<Expr>, OfRows)>,
}

type OfRows = HashMap<(NodeNo, RowNo), f64>;

impl Scores {
    /// The score of what a variable stands for. Null where it does not match.
    pub(super) fn score(
        &self,
        args: &[Expr],
        slot: impl Fn(VarNo) -> Slot,
    ) -> Result<Value, ExecError> {
        let Some(Expr::Property(var, _)) = args.first() else {
            return Err(ExecError::Plan("bm25 is of a property"));
        };
        let known = self.known.iter().find(|(of, _)| of == args);
        let (_, scores) = known.ok_or(ExecError::Plan("a score nobody looked up"))?;
        Ok(match slot(*var) {
            Slot::Node(no, row) => scores.get(&(no, row)).map_or(Value::Null, |s| Value::Float(*s)),
            _ => Value::Null,
        })
    }
}

impl Machine<'_> {
    /// Looks up all scores that a query speaks of.
    pub(super) async fn prepare_scores(&mut self, read: &Read) -> Result<(), ExecError> {
        let mut calls: Vec<&[Expr]> = Vec::new();
        for expr in expressions(read) {
            walk(expr, &mut |of| match of {
                Expr::Call(Function::Bm25, args) if !calls.contains(&args.as_slice()) => {
                    calls.push(args);
                }
                _ => {}
            });
        }
        for args in calls {
            let [Expr::Property(var, property), query] = args else {
                return Err(ExecError::Plan("bm25 is of a property"));
            };
            if !super::vars::vars_of(query).is_empty() {
                return Err(ExecError::Unsupported(
                    "bm25 looks for words that are the same for all rows: a text or a parameter"
                        .to_owned(),
                ));
            }
            let wanted = match &*self.eval().value(query, &NoRow)? {
                Value::Text(text) => query_words(text),
                _ => Vec::new(),
            };
            let mut scores = HashMap::new();
            for (no, number) in self.types(*var)?.iter().zip(&property.0) {
                let found = if wanted.is_empty() {
                    Vec::new()
                } else {
                    self.scores_of(*no, number.0, &wanted).await?
                };
                scores.extend(found.into_iter().map(|(row, score)| ((*no, row), score)));
            }
            self.scores.known.push((args.to_vec(), scores));
        }
        Ok(())
    }

    async fn scores_of(
        &mut self,
        no: NodeNo,
        property: usize,
        wanted: &[String],
    ) -> Result<Vec<(RowNo, f64)>, ExecError> {
        let node = self.node(no)?;
        let of = node.properties.get(property).ok_or(ExecError::Plan("no such property"))?;
        let mut found = Vec::new();
        if let Some(index) = of.index_tag(&node.slot).filter(|_| of.is_searched())
            && let Some(rows) = self.view.search(index, wanted, false, self.may_scan()).await?
        {
            self.scanned(rows.len())?;
            // Whoever returns them, or looks whether they match, need not read them again.
            let is_new = |row: &RowNo| !self.loaded.nodes.contains_key(&(no, *row));
            let new = rows.iter().copied().filter(is_new).collect();
            self.load_nodes(no, &new).await?;
            for (number, row) in rows.into_iter().enumerate() {
                let_others(number).await;
                let values = self.loaded.nodes.get(&(no, row));
                let text = values.and_then(|values| values.get(property));
                found.extend(Counted::of(text, wanted).map(|text| (row, text)));
            }
            return Ok(scored(&found));
        }
        let decoder = Decoder::only(&node.properties, |number| number == property);
        let mut after = None;
        loop {
            let page = self.view.scan(node.tag(), after, super::find::SCAN_PAGE).await?;
            self.scanned(page.len())?;
            let Some(last) = page.last() else { return Ok(scored(&found)) };
            after = Some(last.row);
            for row in &page {
                let values = decoder.decode(row.body.as_deref().unwrap_or("{}"))?;
                let text = Counted::of(values.get(property), wanted);
                found.extend(text.map(|text| (row.row, text)));
            }
        }
    }
}

/// What of a text its score is made of.
#[derive(Debug)]
struct Counted {
    /// How often each of the words is in it.
    times: Vec<u32>,
    /// How many words it has.
    length: u32,
}

impl Counted {
    /// None unless it is a text with all the words in it.
    fn of(text: Option<&Value>, wanted: &[String]) -> Option<Self> {
        let Some(Value::Text(text)) = text else { return None };
        let has = words(text);
        let mut times = vec![0; wanted.len()];
        for word in &has {
            for (count, _) in times.iter_mut().zip(wanted).filter(|(_, of)| *of == word) {
                *count += 1;
            }
        }
        let length = u32::try_from(has.len()).unwrap_or(u32::MAX);
        times.iter().all(|count| *count > 0).then_some(Self { times, length })
    }
}

/// Each text's score, among those that were found: Okapi's formula, in which the average length is
/// that of the texts found, and no word counts for more than another.
///
// INVARIANT: it depends on nothing but the rows that are found, which are those that can be seen
// where the query looks. An index that is there or not, other branches and what was once written
// change nothing, so that pages ordered by a score fit together.
fn scored(found: &[(RowNo, Counted)]) -> Vec<(RowNo, f64)> {
    let all: f64 = found.iter().map(|(_, text)| f64::from(text.length)).sum();
    #[expect(clippy::cast_precision_loss, reason = "there are not that many rows")]
    let mean = all / found.len() as f64;
    let score = |text: &Counted| -> f64 {
        let long = 1.0 - B + B * f64::from(text.length) / mean;
        let of = |times: &u32| f64::from(*times) * (K + 1.0) / (f64::from(*times) + K * long);
        text.times.iter().map(of).sum()
    };
    found.iter().map(|(row, text)| (*row, score(text))).collect()
}

/// Reciprocal rank fusion: for each row, what its places in several rankings are worth. Equal
/// values have one place; none has no place.
#[expect(clippy::cast_precision_loss, reason = "a place is a small number")]
pub(super) fn fused(rows: &[Vec<Option<f64>>], lower_is_better: &[bool]) -> Vec<f64> {
    let mut scores = vec![0.0; rows.len()];
    for (number, lower) in lower_is_better.iter().enumerate() {
        let value = |row: &Vec<Option<f64>>| {
            let value = row.get(number).copied().flatten()?;
            Some(Ranked(if *lower { value } else { -value }))
        };
        let ranked: BTreeSet<Ranked> = rows.iter().filter_map(value).collect();
        let places: HashMap<u64, usize> =
            ranked.iter().zip(1..).map(|(value, place)| (value.0.to_bits(), place)).collect();
        for (score, row) in scores.iter_mut().zip(rows) {
            if let Some(place) = value(row).and_then(|of| places.get(&of.0.to_bits())) {
                *score += 1.0 / (RRF_K + *place as f64);
            }
        }
    }
    scores
}

/// A float by its order.
#[derive(Clone, Copy, PartialEq)]
struct Ranked(f64);

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// How much a word that comes again counts.
const K: f64 = 1.2;
/// How much the length of a text counts.
const B: f64 = 0.75;
/// How little the first places stand out.
const RRF_K: f64 = 60.0;

#[cfg(test)]
mod tests {
    use narthex_store::RowNo;

    use super::{Counted, scored};
    use crate::value::Value;

    #[test]
    fn better_texts_score_higher() {
        let wanted = ["tea".to_owned(), "cake".to_owned()];
        let texts = [
            "Tea and cake, and a long talk about the weather and all the rest",
            "tea, cake",
            "tea and more tea with cake",
            "tea with cake and no more",
        ];
        let found: Vec<_> = (0..)
            .map(RowNo)
            .zip(
                texts
                    .map(|text| Counted::of(Some(&Value::Text(text.to_owned())), &wanted).unwrap()),
            )
            .collect();
        let mut scores = scored(&found);
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert_eq!(scores.iter().map(|(row, _)| row.0).collect::<Vec<_>>(), [1, 2, 3, 0]);
        assert!(scores.iter().all(|(_, score)| *score > 0.0), "{scores:?}");
        assert!(Counted::of(Some(&Value::Text("tea".to_owned())), &wanted).is_none());
        assert!(scored(&[]).is_empty());
    }
}
