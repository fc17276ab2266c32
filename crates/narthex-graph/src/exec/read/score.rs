//! How well texts match: `bm25`, and `rrf` over several rankings.

use std::collections::{BTreeSet, HashMap};

use narthex_store::RowNo;

use super::machine::{Machine, Slot};
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
        if let Some(index) = of.index_tag(&node.slot).filter(|_| of.is_searched())
            && let Some(found) = self.view.search(index, wanted, false, self.may_scan()).await?
        {
            self.scanned(found.len())?;
            return Ok(found);
        }
        let decoder = Decoder::only(&node.properties, |number| number == property);
        let (mut found, mut after, mut texts) = (Vec::new(), None, 0);
        loop {
            let page = self.view.scan(node.tag(), after, super::find::SCAN_PAGE).await?;
            self.scanned(page.len())?;
            let Some(last) = page.last() else { break };
            after = Some(last.row);
            for row in &page {
                let values = decoder.decode(row.body.as_deref().unwrap_or("{}"))?;
                if let Some(Value::Text(text)) = values.get(property) {
                    texts += 1;
                    if let Some(often) = frequencies(text, wanted) {
                        found.push((row.row, often));
                    }
                }
            }
        }
        Ok(weighed(found, texts))
    }
}

/// How large a part of a text each word is; none unless all are in it.
#[expect(clippy::cast_precision_loss, reason = "a score is a rough thing")]
fn frequencies(text: &str, wanted: &[String]) -> Option<Vec<f64>> {
    let has = words(text);
    let often = |word: &String| {
        let times = has.iter().filter(|of| *of == word).count();
        (times > 0).then(|| times as f64 / has.len() as f64)
    };
    wanted.iter().map(often).collect()
}

/// Each text's score. All those found have all the words, so how rare the words are says only how
/// rare a text with all of them is.
#[expect(clippy::cast_precision_loss, reason = "a score is a rough thing")]
fn weighed(found: Vec<(RowNo, Vec<f64>)>, texts: usize) -> Vec<(RowNo, f64)> {
    let rarity = (1.0 + texts as f64 / (found.len() as f64).max(1.0)).ln();
    found.into_iter().map(|(row, often)| (row, often.iter().sum::<f64>() * rarity)).collect()
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

/// How little the first places stand out.
const RRF_K: f64 = 60.0;
