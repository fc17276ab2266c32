//! Queries that were checked, kept at hand.

use std::sync::Arc;

use moka::sync::Cache;
use narthex_core::Digest;

use super::GraphError;
use crate::query::{self, Reading, Writing};
use crate::schema::Schema;

/// Plans by the schema they were checked against, the text they are in, and their name there. A text
/// that is wrong is read anew each time.
#[derive(Debug, Clone)]
pub(super) struct Plans {
    reading: Cache<Key, Arc<Reading>>,
    writing: Cache<Key, Arc<Writing>>,
}

type Key = (Digest, Digest, Option<String>);

impl Default for Plans {
    fn default() -> Self {
        Self { reading: Cache::new(PLANS), writing: Cache::new(PLANS) }
    }
}

impl Plans {
    pub(super) fn reading(
        &self,
        source: &str,
        name: Option<&str>,
        schema: (Digest, &Schema),
    ) -> Result<Arc<Reading>, GraphError> {
        one(&self.reading, query::read_reading, source, name, schema)
    }

    pub(super) fn writing(
        &self,
        source: &str,
        name: Option<&str>,
        schema: (Digest, &Schema),
    ) -> Result<Arc<Writing>, GraphError> {
        one(&self.writing, query::read_writing, source, name, schema)
    }
}

type Read<T> = fn(&str, Option<&str>, &Schema) -> Result<T, Vec<crate::Diagnostic>>;

fn one<T: Send + Sync + 'static>(
    known: &Cache<Key, Arc<T>>,
    read: Read<T>,
    source: &str,
    name: Option<&str>,
    (digest, schema): (Digest, &Schema),
) -> Result<Arc<T>, GraphError> {
    if source.len() > KEPT_BYTES {
        return read(source, name, schema).map(Arc::new).map_err(GraphError::Text);
    }
    let key = (digest, Digest::of(source.as_bytes()), name.map(str::to_owned));
    if let Some(plan) = known.get(&key) {
        return Ok(plan);
    }
    let plan = Arc::new(read(source, name, schema).map_err(GraphError::Text)?);
    known.insert(key, Arc::clone(&plan));
    Ok(plan)
}

/// Plans of each kind that are kept.
const PLANS: u64 = 512;
/// Longer texts are not kept: a plan takes memory in proportion to its text.
const KEPT_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{KEPT_BYTES, Plans};
    use crate::schema::Schema;

    #[test]
    fn a_plan_is_of_its_schema_its_text_and_its_name() {
        let schema = Schema::read("node P { slug: String @key }", None).unwrap();
        let other = Schema::read("node P { slug: String @key  age: I32? }", None).unwrap();
        let plans = Plans::default();
        let two = "query a() { match { $p: P } return { $p.slug } }
                   query b() { match { $p: P } return { count($p) as n } }";
        let a = plans.reading(two, Some("a"), (schema.digest(), &schema)).unwrap();
        assert!(Arc::ptr_eq(
            &a,
            &plans.reading(two, Some("a"), (schema.digest(), &schema)).unwrap()
        ));
        assert!(!Arc::ptr_eq(
            &a,
            &plans.reading(two, Some("a"), (other.digest(), &other)).unwrap()
        ));
        assert_eq!(plans.reading(two, Some("b"), (schema.digest(), &schema)).unwrap().name, "b");
        assert!(
            plans.writing(two, Some("a"), (schema.digest(), &schema)).is_err(),
            "it looks only"
        );
        assert!(plans.reading(two, Some("c"), (schema.digest(), &schema)).is_err());
        let long = format!("{two} // {}", "x".repeat(KEPT_BYTES));
        let first = plans.reading(&long, Some("a"), (schema.digest(), &schema)).unwrap();
        assert!(!Arc::ptr_eq(
            &first,
            &plans.reading(&long, Some("a"), (schema.digest(), &schema)).unwrap()
        ));
    }
}
