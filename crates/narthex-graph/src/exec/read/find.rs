//! Finding nodes: by key, through an index, by words, or all there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use narthex_store::{IndexRange, RowNo};

use super::access::{Access, Lookup};
use super::machine::{Binding, Machine, Slot, Table, let_others};
use super::vars::loaded_vars;
use crate::exec::ExecError;
use crate::exec::eval::{Eval, NoRow};
use crate::query::{Expr, NodeNo, PropertyRef, VarNo};
use crate::rows::{index_range, index_value, key_text, node_number, prefix_range};
use crate::schema::{Kind, NodeType, Property};
use crate::value::{GroupKey, Value, query_words};

type Found = Vec<(NodeNo, RowNo)>;

impl Machine<'_> {
    /// Binds a variable that is not bound.
    pub(super) async fn bind(
        &mut self,
        table: Table,
        var: VarNo,
        access: &Access,
        join: Option<&(PropertyRef, Expr)>,
    ) -> Result<Table, ExecError> {
        if table.is_empty() {
            return Ok(table);
        }
        if let Access::Key(key) = access {
            return self.by_key(table, var, key).await;
        }
        let found = self.found(var, access).await?;
        match join {
            Some((property, equal)) => self.joined(table, var, &found, property, equal).await,
            None => self.crossed(&table, var, &found).await,
        }
    }

    async fn by_key(&mut self, table: Table, var: VarNo, key: &Expr) -> Result<Table, ExecError> {
        self.load(&table, &loaded_vars(key)).await?;
        let types = self.types(var)?;
        let mut wanted: BTreeMap<NodeNo, BTreeSet<RowNo>> = BTreeMap::new();
        let mut asked = Vec::with_capacity(table.len());
        for binding in &table {
            let value = self.eval().value(key, &self.scope(binding))?.into_owned();
            let mut rows = Vec::new();
            for no in types {
                let node = self.node(*no)?;
                let kind = node.key_property().map(|property| &property.kind);
                if let Some(text) = kind.and_then(|kind| key_text(kind, &value)) {
                    let row = node_number(self.context.salt, &node.slot, &text);
                    wanted.entry(*no).or_default().insert(row);
                    rows.push((*no, row));
                }
            }
            asked.push(rows);
        }
        let mut there = BTreeMap::new();
        for (no, rows) in &wanted {
            there.insert(*no, self.load_nodes(*no, rows).await?);
        }
        let mut next = Table::new();
        for (binding, rows) in table.into_iter().zip(asked) {
            for (no, row) in rows {
                if there.get(&no).is_some_and(|there| there.contains(&row)) {
                    let mut binding = binding.clone();
                    binding.set(var, Slot::Node(no, row));
                    self.push(&mut next, binding)?;
                }
            }
        }
        Ok(next)
    }

    async fn crossed(
        &mut self,
        table: &[Binding],
        var: VarNo,
        found: &Found,
    ) -> Result<Table, ExecError> {
        let mut next = Table::new();
        for binding in table {
            for (no, row) in found {
                let mut binding = binding.clone();
                binding.set(var, Slot::Node(*no, *row));
                let_others(next.len()).await;
                self.push(&mut next, binding)?;
            }
        }
        Ok(next)
    }

    /// Those whose property is equal to something bound, without trying each with each.
    async fn joined(
        &mut self,
        table: Table,
        var: VarNo,
        found: &Found,
        property: &PropertyRef,
        equal: &Expr,
    ) -> Result<Table, ExecError> {
        self.load(&table, &loaded_vars(equal)).await?;
        let one = self.start();
        let candidates = self.crossed(&[one], var, found).await?;
        self.load(&candidates, &BTreeSet::from([var])).await?;
        let mut by_value: HashMap<GroupKey, Vec<Slot>> = HashMap::new();
        let mine = Expr::Property(var, property.clone());
        for candidate in &candidates {
            let value = self.eval().value(&mine, &self.scope(candidate))?.group_key();
            by_value.entry(value).or_default().push(candidate.slot(var));
        }
        let mut next = Table::new();
        for binding in table {
            let value = self.eval().value(equal, &self.scope(&binding))?.into_owned();
            let slots = by_value.get(&value.group_key()).filter(|_| !value.is_null());
            for slot in slots.into_iter().flatten() {
                let mut binding = binding.clone();
                binding.set(var, *slot);
                let_others(next.len()).await;
                self.push(&mut next, binding)?;
            }
        }
        Ok(next)
    }

    /// The rows that a variable may stand for, by type and number. Perhaps more than that.
    async fn found(&mut self, var: VarNo, access: &Access) -> Result<Found, ExecError> {
        let mut found = Found::new();
        for (at, no) in self.types(var)?.iter().enumerate() {
            let rows = match access {
                Access::Index(property, lookups) => {
                    self.by_index(*no, property.0.get(at).map(|of| of.0), lookups).await?
                }
                Access::Search(property, query) => {
                    self.by_words(*no, property.0.get(at).map(|of| of.0), query).await?
                }
                Access::Keys(list) => {
                    let (eval, node) = (self.eval(), self.node(*no)?);
                    keyed(node, self.context.salt, &*eval.value(list, &NoRow)?)
                }
                Access::Key(_) | Access::Scan => None,
            };
            match rows {
                Some(rows) => {
                    // An index may be out of date: only what is there counts.
                    let there = self.load_nodes(*no, &rows).await?;
                    found.extend(there.into_iter().map(|row| (*no, row)));
                }
                None => found.extend(self.scan_all(*no).await?.into_iter().map(|row| (*no, row))),
            }
        }
        Ok(found)
    }

    async fn by_index(
        &mut self,
        no: NodeNo,
        property: Option<usize>,
        lookups: &[Lookup],
    ) -> Result<Option<BTreeSet<RowNo>>, ExecError> {
        let node = self.node(no)?;
        let property = property.and_then(|number| node.properties.get(number));
        let property = property.ok_or(ExecError::Plan("no such property"))?;
        let Some(index) = property.index_tag(&node.slot) else { return Ok(None) };
        let Some(range) = range(&self.eval(), property, lookups)? else { return Ok(None) };
        let rows = self.view.index(index, &range, self.may_scan()).await?;
        if let Some(rows) = &rows {
            self.scanned(rows.len())?;
        }
        Ok(rows.map(|rows| rows.into_iter().collect()))
    }

    async fn by_words(
        &mut self,
        no: NodeNo,
        property: Option<usize>,
        query: &Expr,
    ) -> Result<Option<BTreeSet<RowNo>>, ExecError> {
        let node = self.node(no)?;
        let property = property.and_then(|number| node.properties.get(number));
        let property = property.ok_or(ExecError::Plan("no such property"))?;
        let Some(index) = property.index_tag(&node.slot) else { return Ok(None) };
        let words = match &*self.eval().value(query, &NoRow)? {
            Value::Text(text) => query_words(text),
            _ => Vec::new(),
        };
        if words.is_empty() {
            return Ok(Some(BTreeSet::new()));
        }
        let rows = self.view.search(index, &words, false, self.may_scan()).await?;
        if let Some(rows) = &rows {
            self.scanned(rows.len())?;
        }
        Ok(rows.map(|rows| rows.into_iter().collect()))
    }

    async fn scan_all(&mut self, no: NodeNo) -> Result<Vec<RowNo>, ExecError> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.scan_page(no, after, SCAN_PAGE).await?;
            let Some(last) = page.last() else { return Ok(all) };
            after = Some(*last);
            all.extend(page);
        }
    }

    /// A page of all rows of a type; their values are kept where they are needed.
    pub(super) async fn scan_page(
        &mut self,
        no: NodeNo,
        after: Option<RowNo>,
        size: u32,
    ) -> Result<Vec<RowNo>, ExecError> {
        let size = size.min(self.may_scan());
        let page = self.view.scan(self.node(no)?.tag(), after, size).await?;
        self.scanned(page.len())?;
        self.loaded.put_nodes(self.context.schema, &self.needs, no, &page)?;
        Ok(page.into_iter().map(|row| row.row).collect())
    }
}

/// The nodes that the keys in a list stand for; a key that no node can have stands for none. None
/// if it is no list.
pub(crate) fn keyed(node: &NodeType, salt: &[u8; 16], list: &Value) -> Option<BTreeSet<RowNo>> {
    let kind = node.key_property().map(|property| &property.kind)?;
    let items = match list {
        Value::List(items) => items.as_slice(),
        Value::Null => &[],
        _ => return None,
    };
    let texts = items.iter().filter_map(|value| key_text(kind, value));
    Some(texts.map(|text| node_number(salt, &node.slot, &text)).collect())
}

/// Where in a property's index that is which meets all of these. None if the index does not help.
pub(crate) fn range(
    eval: &Eval<'_>,
    property: &Property,
    lookups: &[Lookup],
) -> Result<Option<IndexRange>, ExecError> {
    let mut range: Option<IndexRange> = None;
    for lookup in lookups {
        let next = one_range(eval, property, lookup)?;
        range = match (range, next) {
            (Some(range), Some(next)) => Some(both(range, next)),
            (range, next) => range.or(next),
        };
    }
    Ok(range)
}

fn one_range(
    eval: &Eval<'_>,
    property: &Property,
    lookup: &Lookup,
) -> Result<Option<IndexRange>, ExecError> {
    Ok(match lookup {
        Lookup::Compare(op, value) => {
            index_range(&property.kind, *op, &*eval.value(value, &NoRow)?)
        }
        Lookup::In(list) => match &*eval.value(list, &NoRow)? {
            Value::List(items) => {
                let items = items.iter().filter_map(|item| index_value(&property.kind, item));
                Some(IndexRange::Any(items.collect()))
            }
            // `contains` of two texts has the property inside a text: no index helps.
            Value::Text(_) => None,
            _ => Some(IndexRange::Any(Vec::new())),
        },
        Lookup::Prefix(value) => match &*eval.value(value, &NoRow)? {
            Value::Text(text) => prefix_range(&property.kind, text),
            _ => Some(IndexRange::Any(Vec::new())),
        },
        Lookup::Has(value) => match &property.kind {
            Kind::List(item) => {
                let value = index_value(item, &*eval.value(value, &NoRow)?);
                Some(IndexRange::Any(value.into_iter().collect()))
            }
            _ => None,
        },
        Lookup::Words(_) => None,
    })
}

/// What is in both ranges, or at least in one of them.
fn both(a: IndexRange, b: IndexRange) -> IndexRange {
    match (a, b) {
        (
            IndexRange::Between { low: Some(low), high: None },
            IndexRange::Between { low: None, high: Some(high) },
        )
        | (
            IndexRange::Between { low: None, high: Some(high) },
            IndexRange::Between { low: Some(low), high: None },
        ) => IndexRange::Between { low: Some(low), high: Some(high) },
        (any @ IndexRange::Any(_), _) | (_, any @ IndexRange::Any(_)) => any,
        (first, _) => first,
    }
}

/// Rows that are asked for at once.
pub(crate) const SCAN_PAGE: u32 = 8192;
