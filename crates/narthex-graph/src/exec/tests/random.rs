//! Random small graphs and random queries, against trying everything.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::naive::Naive;
use super::world::{COMPANY, KNOWS, LIKES, PERSON, WORKS_AT, World, schema};
use crate::exec::{Cell, Changes};
use crate::query::{
    BinaryOp, Clause, Column, Direction, EdgeNo, Expr, Function, PropertyNo, PropertyRef, Read,
    SearchHow, Sort, UnaryOp, Var, VarKind, VarNo,
};
use crate::value::{Value, parse_date};

proptest! {
    #![proptest_config(Config { cases: 500, ..Config::default() })]

    #[test]
    fn what_is_found_is_what_there_is(
        people in 1..6_usize,
        ages in prop::collection::vec(prop::option::of(0..4_i128), 5),
        edges in prop::collection::vec((0..3_usize, 0..5_usize, 0..5_usize, prop::option::of(0..3_u8)), 0..9),
        clauses in prop::collection::vec(clause(2), 1..4),
        without_indexes: bool,
    ) {
        let mut world = graph(people, &ages, &edges);
        let read = read(clauses);
        world.without_indexes = without_indexes;
        let mut expected = Naive::new(&world, &read).rows();
        let answer = world.read(&read).unwrap();
        let found: Vec<Vec<Value>> = answer.rows.into_iter().map(values).collect();
        expected.sort_by(|a, b| total(a, b));
        let mut sorted = found.clone();
        sorted.sort_by(|a, b| total(a, b));
        prop_assert_eq!(&sorted, &expected);

        // In order, and page by page, it is the same again.
        let ordered = Read {
            order: vec![Sort { by: Expr::Column(0), descending: true }],
            ..read.clone()
        };
        let all: Vec<_> = world.read(&ordered).unwrap().rows.into_iter().map(values).collect();
        prop_assert_eq!(all.len(), expected.len());
        let mut paged = Vec::new();
        let mut page = crate::exec::Page { size: 3, cursor: None };
        loop {
            let (answer, _) = world.page(&ordered, &page).unwrap();
            prop_assert!(answer.rows.len() <= 3);
            paged.extend(answer.rows.into_iter().map(values));
            page.cursor = answer.next;
            if page.cursor.is_none() {
                break;
            }
        }
        prop_assert_eq!(paged, all);

        // A limit gives the first of what comes without one.
        let limited = Read { limit: Some(Expr::Const(Value::Int(2))), ..read };
        let first: Vec<_> = world.read(&limited).unwrap().rows.into_iter().map(values).collect();
        prop_assert_eq!(&first[..], &found[..found.len().min(2)]);
    }
}

fn values(row: Vec<Cell>) -> Vec<Value> {
    let value = |cell| match cell {
        Cell::Value(value) => value,
        Cell::Whole(_) => panic!("only values were asked for"),
    };
    row.into_iter().map(value).collect()
}

fn total(a: &[Value], b: &[Value]) -> std::cmp::Ordering {
    let each = a.iter().zip(b).map(|(a, b)| a.total(b));
    each.into_iter().find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
}

/// Variables 0 to 2 are people that every query finds; 3 to 5 are people, 6 a company, 7 anything
/// with a name, 8 and 9 edges.
fn read(mut clauses: Vec<Clause>) -> Read {
    let person = || Var { name: None, kind: VarKind::Node(vec![PERSON]) };
    let mut vars: Vec<Var> = (0..6).map(|_| person()).collect();
    vars.push(Var { name: None, kind: VarKind::Node(vec![COMPANY]) });
    vars.push(Var { name: None, kind: VarKind::Node(vec![PERSON, COMPANY]) });
    vars.push(Var { name: None, kind: VarKind::Edge(KNOWS) });
    vars.push(Var { name: None, kind: VarKind::Edge(LIKES) });
    for var in 0..2 {
        clauses.push(Clause::Node { var: VarNo(var), with: vec![] });
    }
    let mut columns: Vec<Expr> = (0..2).map(|var| slug(VarNo(var))).collect();
    // What is bound somewhere at the top, or perhaps, can come out too.
    let tops: Vec<Clause> =
        clauses.iter().filter(|clause| !matches!(clause, Clause::Not(_))).cloned().collect();
    let mut seen = std::collections::BTreeSet::new();
    for clause in &tops {
        let inner = match clause {
            Clause::Optional(inner) => crate::exec::read::binds(inner),
            clause => crate::exec::read::binds(std::slice::from_ref(clause)),
        };
        seen.extend(inner);
    }
    for var in seen.into_iter().filter(|var| (2..8).contains(&var.0)) {
        columns.push(slug(var));
    }
    let columns = columns.into_iter().map(|value| Column {
        name: "c".into(),
        value,
        kind: Some(crate::schema::Kind::String),
        nullable: true,
    });
    Read {
        vars,
        clauses,
        columns: columns.collect(),
        distinct: false,
        having: None,
        order: vec![],
        limit: None,
    }
}

fn graph(
    people: usize,
    ages: &[Option<i128>],
    edges: &[(usize, usize, usize, Option<u8>)],
) -> World {
    let mut world = World::new(schema());
    let mut changes = Changes::default();
    let text = |text: String| Value::Text(text);
    for (person, age) in ages.iter().copied().enumerate().take(people) {
        let values = [
            text(format!("p{person}")),
            text(format!("n{}", person % 2)),
            age.map_or(Value::Null, Value::Int),
            age.map_or(Value::Null, |age| text(format!("likes tea {age}"))),
            Value::List(age.map(|age| text(format!("t{age}"))).into_iter().collect()),
            text("lead".into()),
            Value::Null,
        ];
        let (key, change) = world.node(PERSON, &values);
        changes.put(key, change);
    }
    for company in 0..2 {
        let values = [text(format!("c{company}")), text(format!("n{company}")), Value::Null];
        let (key, change) = world.node(COMPANY, &values);
        changes.put(key, change);
    }
    for (what, from, to, mark) in edges {
        let from = format!("p{}", from % people);
        let day = mark.and_then(|mark| parse_date(&format!("2026-01-0{}", mark + 1)));
        let (key, change) = match what {
            0 => {
                let to = format!("p{}", to % people);
                let since = day.map_or(Value::Null, Value::Date);
                world.edge(KNOWS, (PERSON, &from), (PERSON, &to), &[since])
            }
            1 => world.edge(WORKS_AT, (PERSON, &from), (COMPANY, &format!("c{}", to % 2)), &[]),
            _ => {
                let much = mark.map_or(Value::Null, |mark| Value::Int(mark.into()));
                let company = format!("c{}", to % 2);
                let person = format!("p{}", to % people);
                let end = if to % 2 == 0 { (PERSON, &*person) } else { (COMPANY, &*company) };
                world.edge(LIKES, (PERSON, &from), end, &[much])
            }
        };
        changes.put(key, change);
    }
    world.commit(&changes);
    world
}

fn clause(depth: u32) -> BoxedStrategy<Clause> {
    let simple = prop_oneof![
        3 => node(),
        4 => knows(),
        2 => (person(), Just(VarNo(6)), direction()).prop_map(|(from, to, direction)| {
            // The company is where the edge points to, whichever way it is written.
            let (from, to) = if direction == Direction::In { (to, from) } else { (from, to) };
            let direction = if direction == Direction::Both { Direction::Out } else { direction };
            edge(from, WORKS_AT, direction, None, to)
        }),
        2 => person().prop_map(|from| edge(from, LIKES, Direction::Out, None, VarNo(7))),
        3 => filter().prop_map(Clause::Filter),
        1 => ("(tea|likes|1|2|te|coffee|)", any::<bool>()).prop_map(|(query, words)| Clause::Search {
            var: VarNo(0),
            property: PropertyRef(vec![PropertyNo(3)]),
            query: Expr::Const(Value::Text(query)),
            how: if words { SearchHow::Words } else { SearchHow::Fuzzy },
        }),
    ];
    if depth == 0 {
        return simple.boxed();
    }
    let inner = || prop::collection::vec(bound(clause(depth - 1)), 1..3);
    prop_oneof![
        6 => simple,
        1 => inner().prop_map(Clause::Not),
        1 => inner().prop_map(Clause::Optional),
        1 => prop::collection::vec(inner(), 2).prop_map(Clause::Or),
    ]
    .boxed()
}

/// Inside of others, a condition speaks of people that are found anyway, so that it means something.
fn bound(clause: BoxedStrategy<Clause>) -> BoxedStrategy<Clause> {
    clause
}

/// The people that every query finds.
fn sure() -> impl Strategy<Value = VarNo> {
    (0..2_usize).prop_map(VarNo)
}

fn person() -> impl Strategy<Value = VarNo> {
    prop_oneof![4 => 0..2_usize, 1 => 2..4_usize].prop_map(VarNo)
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Out), Just(Direction::In), Just(Direction::Both)]
}

fn node() -> impl Strategy<Value = Clause> {
    let with = prop_oneof![
        2 => Just(vec![]),
        1 => (0..6_usize).prop_map(|n| vec![(0, Value::Text(format!("p{n}")))]),
        1 => (0..2_usize).prop_map(|n| vec![(1, Value::Text(format!("n{n}")))]),
        1 => (0..4_i128).prop_map(|n| vec![(2, Value::Int(n))]),
        1 => Just(vec![(2, Value::Null)]),
    ];
    (person(), with).prop_map(|(var, with)| {
        let with = with
            .into_iter()
            .map(|(number, value)| (PropertyRef(vec![PropertyNo(number)]), Expr::Const(value)));
        Clause::Node { var, with: with.collect() }
    })
}

fn knows() -> impl Strategy<Value = Clause> {
    let hops = prop_oneof![
        3 => Just(None),
        2 => (0..3_u32, 0..3_u32).prop_map(|(min, more)| Some((min, min + more))),
    ];
    (person(), direction(), hops, prop::option::of(Just(VarNo(8))), 0..4_usize, person()).prop_map(
        |(from, direction, hops, var, since, to)| {
            let var = if hops.is_some() { None } else { var };
            let mut clause = edge(from, KNOWS, direction, hops, to);
            if let (Clause::Edge { var: place, with, .. }, Some(var)) = (&mut clause, var) {
                *place = Some(var);
                if let Some(day) = parse_date(&format!("2026-01-0{since}")) {
                    let value = Expr::Const(Value::Date(day));
                    with.push((PropertyRef(vec![PropertyNo(0)]), value));
                }
            }
            clause
        },
    )
}

fn edge(
    from: VarNo,
    edge: EdgeNo,
    direction: Direction,
    hops: Option<(u32, u32)>,
    to: VarNo,
) -> Clause {
    Clause::Edge { from, edge, direction, hops, var: None, with: vec![], to }
}

fn filter() -> impl Strategy<Value = Expr> {
    let op = prop_oneof![
        Just(BinaryOp::Equal),
        Just(BinaryOp::NotEqual),
        Just(BinaryOp::Less),
        Just(BinaryOp::GreaterOrEqual),
    ];
    let compared = (sure(), op, 0..4_i128, any::<bool>()).prop_map(|(var, op, number, turned)| {
        let (age, number) = (age(var), Expr::Const(Value::Int(number)));
        let (a, b) = if turned { (number, age) } else { (age, number) };
        Expr::Binary(op, Box::new(a), Box::new(b))
    });
    let simple = prop_oneof![
        4 => compared,
        1 => Just(Expr::Binary(BinaryOp::Equal, Box::new(age(VarNo(0))), Box::new(age(VarNo(1))))),
        1 => Just(Expr::Binary(
            BinaryOp::NotEqual,
            Box::new(Expr::Var(VarNo(0))),
            Box::new(Expr::Var(VarNo(1))),
        )),
        1 => sure().prop_map(|var| Expr::Unary(UnaryOp::IsNull, Box::new(age(var)))),
        1 => (sure(), "n|p|n0|").prop_map(|(var, start)| Expr::Call(
            Function::StartsWith,
            vec![property(var, 1), Expr::Const(Value::Text(start))],
        )),
        1 => (sure(), 0..4_u8).prop_map(|(var, tag)| Expr::Call(
            Function::Contains,
            vec![property(var, 4), Expr::Const(Value::Text(format!("t{tag}")))],
        )),
        1 => (sure(), 0..4_u8).prop_map(|(var, n)| Expr::Call(
            Function::Contains,
            vec![
                Expr::Const(Value::List(vec![Value::Text(format!("p{n}")), Value::Text("p0".into())])),
                slug(var),
            ],
        )),
    ];
    simple.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, and)| {
                let op = if and { BinaryOp::And } else { BinaryOp::Or };
                Expr::Binary(op, Box::new(a), Box::new(b))
            }),
            inner.prop_map(|of| Expr::Unary(UnaryOp::Not, Box::new(of))),
        ]
    })
}

fn property(var: VarNo, number: usize) -> Expr {
    Expr::Property(var, PropertyRef(vec![PropertyNo(number)]))
}

/// The key; of variable 7, which is of two types, both their keys.
fn slug(var: VarNo) -> Expr {
    let count = if var.0 == 7 { 2 } else { 1 };
    Expr::Property(var, PropertyRef(vec![PropertyNo(0); count]))
}

fn age(var: VarNo) -> Expr {
    property(var, 2)
}
