//! Queries: what is read, what is refused and how.

mod reading;
mod refused;
mod select;
mod show;

use crate::schema::Schema;

/// Several kinds of everything.
const SCHEMA: &str = "
interface Named { name: String @index }
interface Dated { at: DateTime }
interface Nobody { x: Bool }
node Person implements Named {
    slug: String @key   name: String @index   age: I32?   bio: String? @index   note: String?
    tags: [String]   stage: enum(lead, member, alumni)   embedding: Vector(3)?   big: U64?
    score: F32?   born: Date?   ok: Bool?   page: Blob?
}
node Company implements Named, Dated { slug: String @key   size: I64? }
node Event { no: I64 @key   at: DateTime }
edge Knows: Person -> Person { since: Date?   weight: F64? }
edge WorksAt: Person -> Company @card(0..1)
edge Likes: Person -> Named
edge Tagged: Named -> Event { word: String @key }
edge Empty: Person -> Nobody
";

fn schema() -> Schema {
    Schema::read(SCHEMA, None).unwrap()
}
