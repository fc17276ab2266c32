//! Ten people, three companies, and what is between them.

use serde_json::{Map, Value as Json};

use super::world::{COMPANY, KNOWS, LIKES, PERSON, WORKS_AT, World};
use crate::exec::{Answer, Changes, ExecError, Page};
use crate::params::bind;
use crate::query::{Body, Plan, read_one};
use crate::schema::Schema;
use crate::value::{Value, parse_date};

pub(super) const SCHEMA: &str = r"
interface Named { name: String @index }

node Person implements Named {
    slug: String @key
    name: String @index
    age: I32? @range(0..150) @index
    bio: String? @index
    tags: [String]
    stage: enum(lead, member, alumni)
    place: Vector(2)?
    @unique(name, stage)
}

node Company implements Named {
    slug: String @key
    name: String @index
    worth: I64?
}

edge Knows: Person -> Person { since: Date? }
edge WorksAt: Person -> Company @card(0..1)
edge Likes: Person -> Named { much: I32? }
";

type Person = (
    &'static str,
    Option<i128>,
    Option<&'static str>,
    &'static [&'static str],
    &'static str,
    Option<[f32; 2]>,
);

const PEOPLE: [Person; 10] = [
    ("ada", Some(36), Some("writes engines and tea"), &["math", "tea"], "lead", Some([1.0, 0.0])),
    ("bob", Some(25), Some("drinks tea"), &["tea"], "member", Some([0.9, 0.1])),
    ("cyd", Some(41), Some("builds engines"), &[], "alumni", Some([0.0, 1.0])),
    ("dan", None, None, &["math"], "member", None),
    ("eve", Some(19), Some("tea tea tea"), &["tea", "spy"], "lead", Some([-1.0, 0.0])),
    ("fay", Some(36), Some("paints"), &["art"], "alumni", Some([0.5, 0.5])),
    ("gus", Some(52), Some("engines of tea and steam"), &["steam"], "member", Some([0.7, 0.7])),
    ("hal", Some(7), None, &[], "member", None),
    ("ivy", Some(30), Some("grows plants"), &["art", "green"], "lead", Some([0.2, 0.9])),
    ("jon", Some(30), Some("Grüne Pflanzen"), &["green"], "member", Some([0.1, 0.8])),
];

const COMPANIES: [(&str, Option<i128>); 3] =
    [("acme", Some(1000)), ("bolt", Some(i64::MAX as i128)), ("core", None)];

const KNOW: [(&str, &str, Option<&str>); 10] = [
    ("ada", "bob", Some("2020-01-01")),
    ("ada", "cyd", Some("2021-05-05")),
    ("bob", "cyd", None),
    ("cyd", "dan", Some("2019-03-03")),
    ("dan", "eve", None),
    ("eve", "ada", Some("2022-02-02")),
    ("fay", "gus", None),
    ("gus", "fay", None),
    ("hal", "hal", None),
    ("ivy", "jon", None),
];

const WORK: [(&str, &str); 5] =
    [("ada", "acme"), ("bob", "acme"), ("cyd", "bolt"), ("eve", "bolt"), ("gus", "core")];

/// The graph.
pub(super) fn people() -> World {
    let mut world = World::new(Schema::read(SCHEMA, None).unwrap());
    let mut changes = Changes::default();
    let text = |text: &str| Value::Text(text.to_owned());
    let mut put = |(key, change)| changes.put(key, change);
    for (slug, age, bio, tags, stage, place) in PEOPLE {
        put(world.node(
            PERSON,
            &[
                text(slug),
                text(&named(slug)),
                age.map_or(Value::Null, Value::Int),
                bio.map_or(Value::Null, text),
                Value::List(tags.iter().map(|tag| text(tag)).collect()),
                text(stage),
                place.map_or(Value::Null, |place| Value::Vector(place.to_vec())),
            ],
        ));
    }
    for (slug, worth) in COMPANIES {
        let worth = worth.map_or(Value::Null, Value::Int);
        put(world.node(COMPANY, &[text(slug), text(&named(slug)), worth]));
    }
    for (from, to, since) in KNOW {
        let since = since.map_or(Value::Null, |day| Value::Date(parse_date(day).unwrap()));
        put(world.edge(KNOWS, (PERSON, from), (PERSON, to), &[since]));
    }
    for (from, to) in WORK {
        put(world.edge(WORKS_AT, (PERSON, from), (COMPANY, to), &[]));
    }
    for (from, to, much) in [
        ("ada", (COMPANY, "acme"), 5),
        ("ada", (PERSON, "bob"), 3),
        ("eve", (PERSON, "eve"), 9),
        ("ivy", (COMPANY, "core"), 1),
    ] {
        put(world.edge(LIKES, (PERSON, from), to, &[Value::Int(much)]));
    }
    world.commit(&changes);
    world
}

fn named(slug: &str) -> String {
    slug[..1].to_uppercase() + &slug[1..]
}

impl World {
    /// A query, as it is written between the braces of one without parameters; or a whole one.
    pub(super) fn plan(&self, text: &str) -> Result<Plan, ExecError> {
        let text = if text.trim_start().starts_with("query") {
            text.to_owned()
        } else {
            format!("query q() {{ {text} }}")
        };
        read_one(&text, None, &self.schema).map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            ExecError::Unsupported(problems.join("\n"))
        })
    }

    /// Asks, with parameters.
    pub(super) fn ask_with(
        &mut self,
        text: &str,
        params: &Json,
        page: &Page,
    ) -> Result<(Answer, Vec<&'static str>), ExecError> {
        let plan = self.plan(text)?;
        let none = Map::new();
        self.params = bind(&plan.params, params.as_object().unwrap_or(&none)).unwrap();
        let Body::Read(read) = plan.body else { panic!("{text} changes something") };
        self.page(&read, page)
    }

    /// Asks; the rows as JSON arrays, and what the view was asked.
    pub(super) fn ask(&mut self, text: &str) -> Result<(Json, Vec<&'static str>), ExecError> {
        let (answer, asked) = self.ask_with(text, &Json::Null, &Page::default())?;
        Ok((rows(&answer), asked))
    }

    /// Changes, and commits that.
    pub(super) fn change(&mut self, text: &str) -> Result<crate::exec::Counts, ExecError> {
        let changes = self.try_change(text)?;
        if !changes.is_empty() {
            self.commit(&changes);
        }
        Ok(changes.counts())
    }

    /// Changes without committing.
    pub(super) fn try_change(&mut self, text: &str) -> Result<Changes, ExecError> {
        let Body::Write(statements) = self.plan(text)?.body else { panic!("{text} looks") };
        self.changes(&statements)
    }
}

/// The rows of an answer as JSON arrays.
pub(super) fn rows(answer: &Answer) -> Json {
    let row = |cells: &Vec<crate::exec::Cell>| -> Json {
        let cells = answer.columns.iter().zip(cells);
        cells.map(|(column, cell)| cell.to_json(column.kind.as_ref())).collect()
    };
    answer.rows.iter().map(row).collect()
}
