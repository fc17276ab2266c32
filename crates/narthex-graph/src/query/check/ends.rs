//! Behind `where`, an end of an edge by type and key: `to = Person("ada")`, as `insert` has it.

use super::expr::Expressions;
use super::names::Bare;
use super::resolve::end;
use super::types::Typed;
use crate::Span;
use crate::lang::{Ast, What};
use crate::query::{BinaryOp, Expr, PropertyNo, PropertyRef, UnaryOp, VarNo};
use crate::schema::Kind;

impl Expressions<'_, '_, '_> {
    /// None if it is something else.
    #[expect(clippy::option_option, reason = "no such thing, or one with something wrong in it")]
    pub(super) fn end_of_type(
        &mut self,
        op: BinaryOp,
        left: &Ast,
        right: &Ast,
        span: Span,
    ) -> Option<Option<Typed>> {
        let (What::Name(name), What::Call { name: of, args, .. }) = (&left.what, &right.what)
        else {
            return None;
        };
        let var = end(name).filter(|_| matches!(self.names.bare, Bare::Edge))?;
        if !of.name.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            return None;
        }
        let row = self.names.rows.get(var.0)?;
        let Some(place) = row.called.iter().position(|known| *known == of.name) else {
            let message = format!("`{name}` is a {}, and `{}` is none", row.label, of.name);
            let problem = self.problems.at(of.span, message);
            let problem = problem.nearest(&of.name, row.called.iter().copied());
            return Some(self.tell(problem));
        };
        let [key] = args.as_slice() else {
            return Some(self.wrong(right.span, format!("write `{}(key)`", of.name)));
        };
        Some(self.is_end(op, (var, place), key, span))
    }

    fn is_end(
        &mut self,
        op: BinaryOp,
        (var, place): (VarNo, usize),
        key: &Ast,
        span: Span,
    ) -> Option<Typed> {
        let row = self.names.rows.get(var.0)?;
        let keys = row.keys.iter().enumerate();
        let keys =
            keys.map(|(n, key)| if n == place { PropertyNo(*key) } else { PropertyNo::NONE });
        let numbers = PropertyRef(keys.collect());
        let kind = row.types.get(place)?.get(*row.keys.get(place)?)?.kind.clone();
        let of_type = Typed::of(Expr::Property(var, numbers.clone()), kind, span);
        let key = self.typed(key)?;
        match op {
            BinaryOp::Equal => self.comparison(op, of_type, key, span),
            BinaryOp::NotEqual => {
                let other = self.comparison(op, of_type, key, span)?;
                // Of another type it is not this one either.
                let key = Box::new(Expr::Property(var, numbers));
                let other_type = Expr::Unary(UnaryOp::IsNull, key);
                let both = (Box::new(other_type), Box::new(other.expr));
                let expr = Expr::Binary(BinaryOp::Or, both.0, both.1);
                Some(Typed { nullable: other.nullable, ..Typed::of(expr, Kind::Bool, span) })
            }
            _ => self.wrong(span, "an end is one node or another: write `=` or `!=`"),
        }
    }
}
