//! The engine with nothing around it, for benchmarks to compare with.

use rquickjs::{Context, Function, Runtime};

/// The value of a program as text, from a new engine in this process. A program finds one function,
/// `host`, which gives back what it is given.
pub fn evaluate(code: &str) -> Result<String, rquickjs::Error> {
    let runtime = Runtime::new()?;
    let context = Context::full(&runtime)?;
    context.with(|ctx| {
        let host = Function::new(ctx.clone(), |text: String| text)?;
        ctx.globals().set("host", host)?;
        let value: rquickjs::Coerced<String> = ctx.eval(code)?;
        Ok(value.0)
    })
}
