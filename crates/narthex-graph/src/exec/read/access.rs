//! The best way to a variable that nothing is known of yet.

use std::collections::BTreeSet;

use super::vars::vars_of;
use crate::query::{BinaryOp, Expr, Function, NodeNo, PropertyNo, PropertyRef, VarNo};
use crate::schema::{Kind, NodeType, Property, Schema};

/// Where the rows of a variable come from. What comes may be more than is wanted: the conditions it
/// was chosen by are checked afterwards all the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Access {
    /// By the key.
    Key(Expr),
    /// By any of the keys in a list; where it is no list after all, as with [`Access::Scan`].
    Keys(Expr),
    /// Through an index, by all of these.
    Index(PropertyRef, Vec<Lookup>),
    /// By words.
    Search(PropertyRef, Expr),
    /// All there are.
    Scan,
}

/// What is looked up in an index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lookup {
    /// Those that stand so to this.
    Compare(BinaryOp, Expr),
    /// Those that are in this list.
    In(Expr),
    /// Those that begin like this.
    Prefix(Expr),
    /// Lists with this in them.
    Has(Expr),
    /// Texts with all these words.
    Words(Expr),
}

/// Finds the best way among conditions, given what is bound. `types` are those the variable can have.
pub(crate) fn access<'e>(
    schema: &Schema,
    var: VarNo,
    types: &[NodeNo],
    conditions: impl Iterator<Item = &'e Expr>,
    bound: &BTreeSet<VarNo>,
) -> Access {
    let asks: Vec<(&PropertyRef, Lookup)> =
        conditions.filter_map(|condition| ask(var, condition)).collect();
    let key = asks.iter().find_map(|(property, lookup)| match lookup {
        Lookup::Compare(BinaryOp::Equal, value)
            if is_key(schema, types, property) && vars_of(value).is_subset(bound) =>
        {
            Some(Access::Key(value.clone()))
        }
        _ => None,
    });
    let keys = asks.iter().find_map(|(property, lookup)| match lookup {
        Lookup::In(list) if is_key(schema, types, property) && vars_of(list).is_empty() => {
            Some(Access::Keys(list.clone()))
        }
        _ => None,
    });
    if let Some(key) = key.or(keys) {
        return key;
    }
    let usable = |property: &PropertyRef, lookup: &Lookup| {
        vars_of(lookup.value()).is_empty()
            && each_property(schema, types, property, |of| lookup.has_index(of))
    };
    let best = asks
        .iter()
        .filter(|(property, lookup)| usable(property, lookup))
        .min_by_key(|(_, lookup)| lookup.rank());
    match best {
        None => Access::Scan,
        Some((property, Lookup::Words(query))) => {
            Access::Search((*property).clone(), query.clone())
        }
        Some((property, best)) => {
            let all = asks.iter().filter(|(of, lookup)| {
                of == property && lookup.rank() == best.rank() && usable(of, lookup)
            });
            let all = all.map(|(_, lookup)| lookup.clone()).collect();
            Access::Index((*property).clone(), all)
        }
    }
}

impl Access {
    /// The better the lower.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Key(_) | Self::Keys(_) => 0,
            Self::Index(_, lookups) => lookups.iter().map(Lookup::rank).min().unwrap_or(RANGE),
            Self::Search(..) => WORDS,
            Self::Scan => u8::MAX,
        }
    }
}

impl Lookup {
    fn value(&self) -> &Expr {
        match self {
            Self::Compare(_, value)
            | Self::In(value)
            | Self::Prefix(value)
            | Self::Has(value)
            | Self::Words(value) => value,
        }
    }

    /// The better the lower.
    fn rank(&self) -> u8 {
        match self {
            Self::Compare(BinaryOp::Equal, _) => EQUAL,
            Self::In(_) | Self::Has(_) => EQUAL + 1,
            Self::Words(_) => WORDS,
            Self::Prefix(_) => WORDS + 1,
            Self::Compare(..) => RANGE,
        }
    }

    fn has_index(&self, property: &Property) -> bool {
        let is_list = matches!(property.kind, Kind::List(_));
        match self {
            Self::Has(_) => property.index.is_some() && is_list,
            Self::Words(_) => property.is_searched(),
            Self::Compare(..) | Self::In(_) | Self::Prefix(_) => {
                property.index.is_some() && !is_list && !matches!(property.kind, Kind::Vector(_))
            }
        }
    }
}

/// What a condition says of one property of a variable alone.
fn ask(var: VarNo, condition: &Expr) -> Option<(&PropertyRef, Lookup)> {
    let of = |expr: &'_ Expr| matches!(expr, Expr::Property(of, _) if *of == var);
    match condition {
        Expr::Binary(op, a, b) => {
            let (property, op, value) = match (of(a), of(b)) {
                (true, false) => (a, *op, b),
                (false, true) => (b, turned(*op)?, a),
                _ => return None,
            };
            let compares = matches!(
                op,
                BinaryOp::Equal
                    | BinaryOp::Less
                    | BinaryOp::LessOrEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterOrEqual
            );
            let Expr::Property(_, property) = &**property else { return None };
            let usable = compares && !vars_of(value).contains(&var);
            usable.then(|| (property, Lookup::Compare(op, (**value).clone())))
        }
        Expr::Call(function, args) => {
            if let (Function::Contains, [list, Expr::Property(found, property)]) =
                (function, args.as_slice())
            {
                let usable = *found == var && !vars_of(list).contains(&var);
                return usable.then(|| (property, Lookup::In(list.clone())));
            }
            let [Expr::Property(found, property), value] = args.as_slice() else { return None };
            if *found != var || vars_of(value).contains(&var) {
                return None;
            }
            let lookup = match function {
                Function::StartsWith => Lookup::Prefix(value.clone()),
                Function::Contains => Lookup::Has(value.clone()),
                Function::MatchText => Lookup::Words(value.clone()),
                _ => return None,
            };
            Some((property, lookup))
        }
        _ => None,
    }
}

/// `3 < $p.age` is `$p.age > 3`.
const fn turned(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessOrEqual => BinaryOp::GreaterOrEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterOrEqual => BinaryOp::LessOrEqual,
        _ => return None,
    })
}

fn is_key(schema: &Schema, types: &[NodeNo], property: &PropertyRef) -> bool {
    let is = |(no, number): (&NodeNo, PropertyNo)| {
        let is = |node: &NodeType| number == PropertyNo::NONE || node.key == number.0;
        schema.nodes.get(no.0).is_some_and(is)
    };
    types.iter().zip(property.0.iter().copied()).all(is)
}

fn each_property(
    schema: &Schema,
    types: &[NodeNo],
    property: &PropertyRef,
    is: impl Fn(&Property) -> bool,
) -> bool {
    let mut each = types.iter().zip(&property.0);
    each.all(|(no, number)| {
        schema.nodes.get(no.0).and_then(|node| node.properties.get(number.0)).is_some_and(&is)
    })
}

const EQUAL: u8 = 1;
const WORDS: u8 = 10;
const RANGE: u8 = 20;
