//! The engine: QuickJS, with what a program finds in it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{Context, Ctx, Function, Object, Persistent, Promise, Runtime, Value};
use serde_json::value::RawValue;

use super::native::{World, natives};
use super::pipe::Pipe;
use super::trouble;
use crate::shape::Shaped;
use crate::wire::{Ended, ModuleNames, Start, Threw};

/// An engine, before and while it runs its one program.
pub(super) struct Engine {
    runtime: Runtime,
    context: Context,
    world: Rc<World>,
    /// What `bootstrap.js` made.
    surroundings: Persistent<Object<'static>>,
}

/// Everything but `performance`, whose clock is finer than a millisecond.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

impl Engine {
    pub(super) fn new(pipe: &Rc<RefCell<Pipe>>) -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        let context = Context::custom::<Intrinsics>(&runtime)?;
        // The C library reads what it knows of time zones once, from files.
        context.with(|ctx| ctx.eval::<(), _>("new Date(0).getTimezoneOffset(); undefined"))?;
        let world = Rc::new(World::new(pipe));
        let surroundings = context.with(|ctx| {
            let bootstrap: Function<'_> =
                ctx.eval_with_options(include_str!("bootstrap.js"), named("host", false))?;
            let made: Object<'_> = bootstrap.call((natives(&ctx, &world)?,))?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, made))
        })?;
        Ok(Self { runtime, context, world, surroundings })
    }

    /// Bytes of heap in use.
    pub(super) fn heap(&self) -> u64 {
        u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0)
    }

    /// Runs a program to its end; how it ended, and after how many microseconds of its own time.
    pub(super) fn run(&self, start: &Start, program: &Shaped) -> (Ended, u64) {
        let bounds = &start.bounds;
        self.runtime.set_memory_limit(bounds.heap);
        self.runtime.set_max_stack_size(bounds.stack);
        self.world.begin(start.seed, start.now, bounds.console);
        let watch = Rc::clone(&self.world);
        let over = move || watch.alone.get() || watch.time.is_over();
        self.runtime.set_interrupt_handler(Some(Box::new(over)));
        self.world.time.begin(Duration::from_millis(bounds.script_millis));
        let ended = self.context.with(|ctx| {
            self.evaluate(&ctx, &start.modules, program)
                .unwrap_or_else(|_| Ended::Threw(trouble::caught(&ctx, program)))
        });
        let micros = u64::try_from(self.world.time.passed().as_micros()).unwrap_or(u64::MAX);
        // Whatever came of it: who was interrupted may have caught that.
        let ended = match ended {
            _ if self.world.time.is_over() => Ended::OutOfTime,
            Ended::Value(value) if value.get().len() > bounds.result => {
                Ended::TooLarge { bytes: value.get().len() as u64 }
            }
            // Where there is no memory there is none for an error either.
            Ended::Threw(threw) if threw.is_nothing() && self.is_full(bounds.heap) => {
                Ended::Threw(Threw::out_of_memory())
            }
            // Nor for a promise, which then nothing settles.
            Ended::Stuck if self.is_full(bounds.heap) => Ended::Threw(Threw::out_of_memory()),
            other => other,
        };
        (ended, micros)
    }

    fn is_full(&self, heap: usize) -> bool {
        self.heap().saturating_mul(10) > u64::try_from(heap).unwrap_or(u64::MAX).saturating_mul(8)
    }

    fn evaluate(
        &self,
        ctx: &Ctx<'_>,
        modules: &[ModuleNames],
        program: &Shaped,
    ) -> rquickjs::Result<Ended> {
        let surroundings = self.surroundings.clone().restore(ctx)?;
        let begin: Function<'_> = surroundings.get("begin")?;
        let names = serde_json::to_string(modules).unwrap_or_default();
        begin.call::<_, ()>((ctx.json_parse(names)?,))?;
        let options = named("script", true);
        let begun: Promise<'_> = ctx.eval_with_options(program.code.as_str(), options)?;
        let finish: Function<'_> = surroundings.get("finish")?;
        let deliver: Function<'_> = surroundings.get("deliver")?;
        let value: Promise<'_> = finish.call((begun,))?;
        loop {
            if let Some(done) = value.result::<Value<'_>>() {
                return Ok(ended(&done?));
            }
            if self.world.time.is_over() {
                return Ok(Ended::OutOfTime);
            }
            if !ctx.execute_pending_job() && !deliver.call::<_, bool>(())? {
                return Ok(Ended::Stuck);
            }
        }
    }
}

fn ended(value: &Value<'_>) -> Ended {
    let text = value.as_string().and_then(|text| text.to_string().ok());
    match text.map(RawValue::from_string) {
        Some(Ok(value)) => Ended::Value(value),
        _ => Ended::Nothing,
    }
}

fn named(name: &str, promise: bool) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.promise = promise;
    options.filename = Some(name.to_owned());
    options
}
