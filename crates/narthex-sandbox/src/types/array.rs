//! Arrays and tuples.

use serde_json::{Map, Value};

use super::bounds::TUPLE_PLACES;
use super::read::{At, Reader};
use super::shape::{Shape, Tuple};

impl<'s> Reader<'s, '_> {
    /// What an array with this schema may be.
    pub(super) fn array(&mut self, map: &'s Map<String, Value>, at: At<'s, '_>) -> Shape {
        let (places, rest) = match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(places)), rest) => (places.as_slice(), rest),
            // Before 2020-12 tuples were written so.
            (_, Some(Value::Array(places))) => (places.as_slice(), map.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        if places.len() > TUPLE_PLACES {
            self.budget.simplify();
            return Shape::Array(Box::new(Shape::Any));
        }
        let rest = rest.map_or(Shape::Any, |schema| self.schema(schema, at.inside()));
        if places.is_empty() && rest != Shape::Never {
            return Shape::Array(Box::new(rest));
        }
        let count = |key: &str| {
            map.get(key).and_then(Value::as_u64).map(|n| n.try_into().unwrap_or(usize::MAX))
        };
        let full = count("maxItems").is_some_and(|most: usize| most <= places.len());
        let rest = (rest != Shape::Never && !full).then(|| Box::new(rest));
        // Strictly every place may be missing where no least number is given. Whoever describes
        // places one by one means them to be there.
        let required = count("minItems").unwrap_or(usize::MAX).min(places.len());
        let places = places.iter().map(|schema| self.schema(schema, at.inside())).collect();
        Shape::Tuple(Tuple { places, required, rest })
    }
}
