//! Schemas: what is read, what is refused and how, and what stays the same.

mod reading;
mod refused;
mod slots;

/// The schema of the guide.
pub(crate) const PEOPLE: &str = r#"
interface Named { name: String @index }

node Person implements Named {
    slug: String @key
    name: String @index
    age: I32? @range(0..150)
    bio: String? @index                 // full text
    tags: [String]
    stage: enum(lead, member, alumni)
    embedding: Vector(384)?
    @unique(name, stage)
    @description("someone we work with")
}

node Company { slug: String @key   name: String }

edge Knows: Person -> Person { since: Date? }
edge WorksAt: Person -> Company @card(0..1)
"#;
