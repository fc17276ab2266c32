//! The worker: our own binary, shut in before it reads a program, for one program.
//!
//! It has a pipe to us and nothing else. Whatever it says may be said by a program that took the
//! engine over; nothing here is a wall, the walls are around it.

mod engine;
mod lock;
mod native;
mod pipe;
mod time;
mod trouble;

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::rc::Rc;

use rustix::process::{Signal, set_parent_process_death_signal};

use self::engine::Engine;
use self::pipe::Pipe;
use crate::wire::{Ended, FromWorker, ToWorker};

/// The command our own binary is started with as a worker.
pub const WORK: &str = "sandbox";

/// What a worker is told before it is shut in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerOrder {
    /// Bytes of heap its program may have at the most.
    pub heap: u64,
    /// Seconds of CPU it may use, all in all.
    pub cpu_seconds: u64,
    /// Whether it goes on where a wall cannot be put up: the owner's explicit word.
    pub without_walls: bool,
}

impl WorkerOrder {
    /// The words of a command line.
    pub fn words(self) -> [String; 3] {
        let walls = if self.without_walls { "without-walls" } else { "walls" };
        [self.heap.to_string(), self.cpu_seconds.to_string(), walls.to_owned()]
    }

    /// Reads the words again.
    pub fn of<T: AsRef<str>>(words: &[T]) -> Option<Self> {
        let [heap, cpu_seconds, walls] = words else { return None };
        let without_walls = match walls.as_ref() {
            "walls" => false,
            "without-walls" => true,
            _ => return None,
        };
        let number = |word: &T| word.as_ref().parse().ok();
        Some(Self { heap: number(heap)?, cpu_seconds: number(cpu_seconds)?, without_walls })
    }
}

/// Works: shuts itself in, runs one program, ends. Before anything else in its process: it has one
/// thread, no settings, no log and no house.
pub fn work(order: WorkerOrder) -> ExitCode {
    // Whoever started it is gone: then so is whoever would end it.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    pipe::stay_awake();
    let pipe = Rc::new(RefCell::new(Pipe::default()));
    // What does not depend on the program is made before it comes.
    let Ok(engine) = Engine::new(&pipe) else { return ExitCode::FAILURE };
    // It ends with the process, which has nothing to give back.
    let engine = ManuallyDrop::new(engine);
    if let Err(error) = lock::lock(order.heap, order.cpu_seconds, order.without_walls) {
        let _ = pipe.borrow_mut().send(&FromWorker::NotLocked { why: error.to_string() });
        return ExitCode::FAILURE;
    }
    match serve(&engine, &pipe) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(engine: &Engine, pipe: &Rc<RefCell<Pipe>>) -> std::io::Result<()> {
    pipe.borrow_mut().send(&FromWorker::Ready)?;
    let first = pipe.borrow_mut().receive()?;
    let ToWorker::Start(start) = first else {
        return Err(std::io::ErrorKind::InvalidData.into());
    };
    let (ended, micros) = match crate::shape::shape(&start.source) {
        Ok(program) => engine.run(&start, &program),
        Err(bad) => {
            let crate::shape::Misshapen { line, column, message, excerpt } = bad;
            (Ended::Misshapen { line, column, message, excerpt }, 0)
        }
    };
    let heap = engine.heap();
    pipe.borrow_mut().send(&FromWorker::Done { ended, heap, micros })
}
