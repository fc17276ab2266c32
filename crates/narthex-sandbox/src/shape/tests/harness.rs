//! A tiny engine: what the real one promises a shaped program, and no more.

use rquickjs::context::EvalOptions;
use rquickjs::{
    CatchResultExt as _, CaughtError, Context, Ctx, Function, Object, Promise, Runtime, Value,
};

use crate::shape::{Shaped, shape};

/// What a program gives, as JSON, or what went wrong.
pub(super) fn run(source: &str) -> Result<String, String> {
    let shaped = shape(source).map_err(|wrong| wrong.to_string())?;
    give(&shaped).map_err(|thrown| format!("{thrown:?} of\n{}", shaped.code))
}

/// What a program throws: its message, and where in the text as it was sent.
pub(super) fn throws(source: &str) -> (String, u32, u32) {
    let shaped = shape(source).unwrap_or_else(|wrong| panic!("{source}\n{wrong}"));
    match give(&shaped) {
        Ok(value) => panic!("{source}\ngave {value}"),
        Err(thrown) => {
            let (line, column) = shaped.original(thrown.line, thrown.column);
            (thrown.message, line, column)
        }
    }
}

#[derive(Debug)]
pub(super) struct Thrown {
    message: String,
    line: u32,
    column: u32,
}

/// Runs a program as the engine does.
pub(super) fn give(shaped: &Shaped) -> Result<String, Thrown> {
    let runtime = Runtime::new().unwrap();
    let context = Context::full(&runtime).unwrap();
    context.with(|ctx| {
        ctx.eval::<(), _>(WORLD).unwrap();
        evaluate(&ctx, &shaped.code).catch(&ctx).map_err(|caught| thrown(&caught))
    })
}

fn evaluate<'js>(ctx: &Ctx<'js>, code: &str) -> rquickjs::Result<String> {
    let mut options = EvalOptions::default();
    options.global = true;
    options.strict = true;
    options.promise = true;
    options.filename = Some(NAME.to_owned());
    let promise: Promise<'js> = ctx.eval_with_options(code, options)?;
    let object: Object<'js> = promise.finish()?;
    let mut value = settled(object.get("value")?)?;
    if let Some(function) = value.as_function() {
        value = settled(function.call(())?)?;
    }
    let json: Function<'js> = ctx.eval("(value => JSON.stringify(value) ?? 'undefined')")?;
    json.call((value,))
}

fn settled(value: Value<'_>) -> rquickjs::Result<Value<'_>> {
    match value.as_promise() {
        Some(promise) => promise.finish(),
        None => Ok(value),
    }
}

fn thrown(caught: &CaughtError<'_>) -> Thrown {
    let CaughtError::Exception(exception) = caught else { panic!("{caught}") };
    let stack = exception.stack().unwrap_or_default();
    let places = stack.split(&format!("{NAME}:")).nth(1).unwrap_or_default();
    let mut numbers = places.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    let (line, column) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let message = exception.message().unwrap_or_default();
    // QuickJS counts the columns of the first line from 0, and of all others from 1.
    Thrown { message, line, column: column + u32::from(line == 1) }
}

const NAME: &str = "program.js";

const WORLD: &str = r#"
    const modules = {
        "host:math": { add: (a, b) => a + b, PI: 3, "odd-name": 7, if: 8 },
        "host:double": { default: x => x * 2, extra: 1 },
        "host:plain": { x: 1 },
        "host:zero": { default: 0 },
    };
    globalThis.loaded = [];
    globalThis.require = globalThis.__hostRequire = name => {
        loaded.push(name);
        if (!Object.hasOwn(modules, name)) throw new Error("no module " + name);
        return modules[name];
    };
    globalThis.__hostImport = async name => __hostRequire(name);
    globalThis.fail = () => { throw new Error("failed") };
    globalThis.module = { exports: {} };
"#;
