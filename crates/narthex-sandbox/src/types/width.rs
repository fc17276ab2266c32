//! Intersections of unions, kept small.
//!
//! To a compiler `(A | B) & (C | D)` is four types. A few such brackets in a row are more than it
//! has memory for, and it gives up on the whole file. Leaving some of them out lets more values fit.

use super::shape::{Definition, Known, Shape};

/// Cuts every intersection that would multiply to more than [`WIDTH`] types.
pub(super) fn trim(definitions: &mut [Definition]) {
    let mut known = Known::new(definitions, width);
    let widths: Vec<usize> = (0..definitions.len()).map(|n| known.of(n).unwrap_or(1)).collect();
    for definition in definitions.iter_mut() {
        trim_one(&mut definition.shape, &widths);
    }
}

/// How many types a type multiplies to once it is trimmed.
fn width(shape: &Shape, known: &mut Known<'_, usize>) -> usize {
    width_by(shape, &mut |number| known.of(number).unwrap_or(1))
}

fn width_by(shape: &Shape, named: &mut dyn FnMut(usize) -> usize) -> usize {
    match shape {
        Shape::Union(members) => {
            members.iter().fold(0, |sum: usize, member| sum.saturating_add(width_by(member, named)))
        }
        Shape::Intersection(members) => members
            .iter()
            .fold(1, |n: usize, member| n.saturating_mul(width_by(member, named)))
            .min(WIDTH),
        Shape::Named(number) => named(*number),
        _ => 1,
    }
}

fn trim_one(shape: &mut Shape, widths: &[usize]) {
    for part in shape.parts_mut() {
        trim_one(part, widths);
    }
    if let Shape::Intersection(members) = shape {
        let mut named = |number: usize| widths.get(number).copied().unwrap_or(1);
        let mut product: usize = 1;
        members.retain(|member| {
            let with = product.saturating_mul(width_by(member, &mut named));
            let keep = with <= WIDTH || product == 1;
            if keep {
                product = with;
            }
            keep
        });
    }
}

/// Types an intersection may multiply to.
const WIDTH: usize = 512;

#[cfg(test)]
mod tests {
    use super::{Definition, Shape, WIDTH, trim};

    fn one_of(letter: char, many: usize) -> Shape {
        Shape::union((0..many).map(|n| Shape::Literal(format!("\"{letter}{n}\""), "string")))
    }

    #[test]
    fn what_multiplies_is_cut() {
        let parts = ['a', 'b', 'c'].map(|letter| one_of(letter, 20));
        let shapes = [
            Shape::intersection(parts.clone()),
            // The same by name: a definition counts for what it is.
            Shape::intersection([Shape::Named(2), parts[0].clone(), Shape::Named(3)]),
            one_of('d', 30),
            one_of('e', 1),
            // Nothing is left of one that is too wide alone, but itself.
            Shape::intersection([one_of('f', WIDTH + 1), one_of('g', 2)]),
        ];
        let mut definitions =
            shapes.map(|shape| Definition { name: String::new(), doc: Vec::new(), shape });
        trim(&mut definitions);
        let left: Vec<usize> = definitions
            .iter()
            .map(|d| if let Shape::Intersection(parts) = &d.shape { parts.len() } else { 0 })
            .collect();
        assert_eq!(left, [2, 2, 0, 0, 1]);
    }
}
