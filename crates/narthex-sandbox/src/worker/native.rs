//! What `bootstrap.js` can ask of the worker.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::{Array, Ctx, Exception, Function, IntoJs as _, Object, TypedArray};
use serde_json::value::RawValue;

use super::pipe::Pipe;
use super::time::ScriptTime;
use crate::wire::{Answer, FromWorker, Level, ToWorker};

/// What a program's natives share.
#[derive(Debug)]
pub(super) struct World {
    pub(super) pipe: Rc<RefCell<Pipe>>,
    pub(super) time: ScriptTime,
    clock: Cell<i64>,
    random: RefCell<fastrand::Rng>,
    calls: Cell<u32>,
    /// Answers that came while something else was waited for.
    early: RefCell<VecDeque<ToWorker>>,
    heard: Cell<u32>,
    said: Cell<usize>,
    may_say: Cell<usize>,
    /// The pipe broke: whatever the program does now, nobody hears it.
    pub(super) alone: Cell<bool>,
}

impl World {
    pub(super) fn new(pipe: &Rc<RefCell<Pipe>>) -> Self {
        Self {
            pipe: Rc::clone(pipe),
            time: ScriptTime::default(),
            clock: Cell::new(0),
            random: RefCell::new(fastrand::Rng::with_seed(0)),
            calls: Cell::new(0),
            early: RefCell::default(),
            heard: Cell::new(0),
            said: Cell::new(0),
            may_say: Cell::new(0),
            alone: Cell::new(false),
        }
    }

    pub(super) fn begin(&self, seed: u64, now: i64, console: usize) {
        self.random.replace(fastrand::Rng::with_seed(seed));
        self.clock.set(now);
        self.may_say.set(console);
    }

    fn send(&self, ctx: &Ctx<'_>, frame: &FromWorker) -> rquickjs::Result<()> {
        let sent = self.pipe.borrow_mut().send(frame);
        sent.map_err(|_| self.left_alone(ctx))
    }

    fn receive(&self, ctx: &Ctx<'_>) -> rquickjs::Result<ToWorker> {
        let received = self.time.stand_still(|| self.pipe.borrow_mut().receive());
        received.map_err(|_| self.left_alone(ctx))
    }

    /// The next answer to a call, in the order they were given.
    fn reply(&self, ctx: &Ctx<'_>) -> rquickjs::Result<(u32, i64, Answer)> {
        let early = self.early.borrow_mut().pop_front();
        match early.map_or_else(|| self.receive(ctx), Ok)? {
            ToWorker::Reply { call, now, answer } => Ok((call, now, answer)),
            ToWorker::Start(_) | ToWorker::Bytes { .. } => Err(self.left_alone(ctx)),
        }
    }

    fn left_alone(&self, ctx: &Ctx<'_>) -> rquickjs::Error {
        self.alone.set(true);
        Exception::throw_internal(ctx, "the host is gone")
    }

    fn call(
        &self,
        ctx: &Ctx<'_>,
        (module, function): (u32, u32),
        arguments: String,
        deferred: bool,
    ) -> rquickjs::Result<u32> {
        let call = self.calls.get();
        self.calls.set(call.saturating_add(1));
        let arguments = RawValue::from_string(arguments)
            .map_err(|_| Exception::throw_type(ctx, "the arguments are no JSON"))?;
        self.send(ctx, &FromWorker::Call { call, module, function, arguments, deferred })?;
        Ok(call)
    }

    /// One answer, whichever comes next: its call, its kind, its text, and where bytes belong.
    fn answer<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Array<'js>> {
        let (call, now, answer) = self.reply(ctx)?;
        self.clock.set(now);
        self.heard.set(self.heard.get().saturating_add(1));
        let written = |bad: serde_json::Error| Exception::throw_internal(ctx, &bad.to_string());
        let (kind, text, binaries) = match answer {
            Answer::Value { value, binaries } => {
                let marks = (!binaries.is_empty()).then(|| serde_json::to_string(&binaries));
                (
                    "value",
                    Box::<str>::from(value).into_string(),
                    marks.transpose().map_err(written)?,
                )
            }
            Answer::Thrown(thrown) => {
                ("thrown", serde_json::to_string(&thrown).map_err(written)?, None)
            }
        };
        let array = Array::new(ctx.clone())?;
        array.set(0, call)?;
        array.set(1, kind)?;
        array.set(2, text)?;
        match binaries {
            Some(marks) => array.set(3, marks)?,
            None => array.set(3, rquickjs::Null.into_js(ctx)?)?,
        }
        Ok(array)
    }

    fn fetch<'js>(&self, ctx: &Ctx<'js>, binary: u32) -> rquickjs::Result<TypedArray<'js, u8>> {
        self.send(ctx, &FromWorker::Fetch { binary })?;
        loop {
            match self.receive(ctx)? {
                // Answers that were on their way are heard when it is their turn.
                reply @ ToWorker::Reply { .. } => self.early.borrow_mut().push_back(reply),
                ToWorker::Bytes { binary: of, base64 } if of == binary => {
                    let gone = "these bytes are not kept any more: take them soon after the call";
                    let base64 = base64.ok_or_else(|| Exception::throw_range(ctx, gone))?;
                    return decoded(ctx, &base64);
                }
                ToWorker::Start(_) | ToWorker::Bytes { .. } => return Err(self.left_alone(ctx)),
            }
        }
    }

    fn say(&self, ctx: &Ctx<'_>, level: &str, mut text: String) -> rquickjs::Result<()> {
        let level = match level {
            "warn" => Level::Warn,
            "error" => Level::Error,
            _ => Level::Log,
        };
        let (said, most) = (self.said.get(), self.may_say.get());
        if said >= most {
            return Ok(());
        }
        let room = most - said;
        if text.len() > room {
            let mut end = room;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        // A line said counts, however short it is.
        self.said.set(said.saturating_add(text.len()).saturating_add(1));
        self.send(ctx, &FromWorker::Said { level, text })
    }
}

/// What the program's surroundings are made with.
pub(super) fn natives<'js>(ctx: &Ctx<'js>, world: &Rc<World>) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let of = |world: &Rc<World>| Rc::clone(world);
    let w = of(world);
    let send = move |ctx: Ctx<'js>, module: u32, function: u32, text: String, deferred: bool| {
        w.call(&ctx, (module, function), text, deferred)
    };
    native.set("send", Function::new(ctx.clone(), send)?)?;
    let w = of(world);
    native.set("receive", Function::new(ctx.clone(), move |ctx: Ctx<'js>| w.answer(&ctx))?)?;
    let w = of(world);
    let waits = move |ctx: Ctx<'js>| w.send(&ctx, &FromWorker::Waits { heard: w.heard.get() });
    native.set("waits", Function::new(ctx.clone(), waits)?)?;
    let w = of(world);
    let fetch = move |ctx: Ctx<'js>, binary: u32| w.fetch(&ctx, binary);
    native.set("fetch", Function::new(ctx.clone(), fetch)?)?;
    let w = of(world);
    let say = move |ctx: Ctx<'js>, level: String, text: String| w.say(&ctx, &level, text);
    native.set("say", Function::new(ctx.clone(), say)?)?;
    let w = of(world);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this age fit")]
    native.set("now", Function::new(ctx.clone(), move || w.clock.get() as f64)?)?;
    let w = of(world);
    native.set("random", Function::new(ctx.clone(), move || w.random.borrow_mut().f64())?)?;
    let turn = |ctx: Ctx<'js>| ctx.execute_pending_job();
    native.set("turn", Function::new(ctx.clone(), turn)?)?;
    texts(ctx, &native)?;
    Ok(native)
}

/// What `host:text` is made of.
fn texts<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> rquickjs::Result<()> {
    let to_utf8 = |ctx: Ctx<'js>, text: String| TypedArray::<u8>::new(ctx, text.into_bytes());
    native.set("toUtf8", Function::new(ctx.clone(), to_utf8)?)?;
    let from_utf8 = |text: String| String::from_utf8_lossy(&bytes_of(&text)).into_owned();
    native.set("fromUtf8", Function::new(ctx.clone(), from_utf8)?)?;
    let to_base64 = |text: String| STANDARD.encode(bytes_of(&text));
    native.set("toBase64", Function::new(ctx.clone(), to_base64)?)?;
    let from_base64 = |ctx: Ctx<'js>, text: String| decoded(&ctx, &text);
    native.set("fromBase64", Function::new(ctx.clone(), from_base64)?)
}

/// Bytes that come as a text of one character each: the engine lends no memory of its own safely.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

fn decoded<'js>(ctx: &Ctx<'js>, base64: &str) -> rquickjs::Result<TypedArray<'js, u8>> {
    let bytes = STANDARD.decode(base64.trim());
    let bytes = bytes.map_err(|_| Exception::throw_type(ctx, "this is no base64"))?;
    TypedArray::new(ctx.clone(), bytes)
}
