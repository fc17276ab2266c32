//! Lines between a client and whoever answers it, remembering what is still unanswered.

use std::collections::HashMap;
use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

/// Why the pump stopped.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The client is done, and everything it asked was answered.
    Input,
    /// Whoever answered went away.
    Backend,
    /// A signal.
    Stopped,
}

/// The client's side, kept across changes of who answers.
pub(super) struct Pump<R, W> {
    input: BufReader<R>,
    output: W,
    line: Vec<u8>,
    waiting: HashMap<String, Value>,
    /// The client's `initialize`: whoever takes over must hear what was consented to.
    greeting: Option<Value>,
    input_ended: bool,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Pump<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input),
            output,
            line: Vec::new(),
            waiting: HashMap::new(),
            greeting: None,
            input_ended: false,
        }
    }

    /// Pumps until one side ends.
    pub(super) async fn run<BR, BW>(
        &mut self,
        answers: BR,
        mut asks: BW,
        stop: &CancellationToken,
    ) -> Ended
    where
        BR: AsyncRead + Unpin,
        BW: AsyncWrite + Unpin,
    {
        let mut answers = BufReader::new(answers);
        let mut answer = Vec::new();
        if self.greet(&mut asks).await.is_err() {
            return Ended::Backend;
        }
        let mut open = true;
        loop {
            if self.input_ended && open {
                // The other side finishes what is under way and then ends too.
                open = false;
                if asks.shutdown().await.is_err() {
                    return self.after_backend();
                }
            }
            tokio::select! {
                () = stop.cancelled() => return Ended::Stopped,
                read = read_line(&mut self.input, &mut self.line), if !self.input_ended => match read {
                    Ok(true) => {
                        self.note();
                        if asks.write_all(&self.line).await.is_err() || asks.flush().await.is_err() {
                            return self.after_backend();
                        }
                        self.line.clear();
                    }
                    Ok(false) | Err(_) => self.input_ended = true,
                },
                read = read_line(&mut answers, &mut answer) => match read {
                    Ok(true) => {
                        if !self.answered(&answer) {
                            answer.clear();
                            continue;
                        }
                        if self.output.write_all(&answer).await.is_err() || self.output.flush().await.is_err() {
                            return Ended::Input;
                        }
                        answer.clear();
                    }
                    Ok(false) | Err(_) => return self.after_backend(),
                },
            }
        }
    }

    /// Tells the client about what nobody answered.
    pub(super) async fn excuse(&mut self) -> io::Result<()> {
        for (_, id) in self.waiting.drain() {
            let message = "the process that answered went away; the call may or may not have been made, look before you repeat it";
            let error =
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message}});
            self.output.write_all(format!("{error}\n").as_bytes()).await?;
        }
        self.output.flush().await
    }

    fn after_backend(&self) -> Ended {
        // A client that is done wants nothing more: what was unreadable was answered without its
        // id, and everything else before the other side ended.
        if self.input_ended { Ended::Input } else { Ended::Backend }
    }

    /// Remembers a request, so that it is answered in any case.
    fn note(&mut self) {
        let Ok(message) = serde_json::from_slice::<Value>(&self.line) else { return };
        let (Some(id), Some(method)) = (message.get("id"), message.get("method")) else { return };
        self.waiting.insert(id.to_string(), id.clone());
        if method == "initialize" {
            self.greeting = Some(message);
        }
    }

    /// Whether an answer is the client's; the one to our own greeting is not.
    fn answered(&mut self, answer: &[u8]) -> bool {
        let Ok(message) = serde_json::from_slice::<Value>(answer) else { return true };
        match message.get("id") {
            Some(id) if id == GREETING_ID => false,
            Some(id) => {
                self.waiting.remove(&id.to_string());
                true
            }
            None => true,
        }
    }

    /// Says the client's `initialize` again to whoever answers now.
    async fn greet(&self, asks: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let Some(greeting) = &self.greeting else { return Ok(()) };
        let mut greeting = greeting.clone();
        if let Some(map) = greeting.as_object_mut() {
            map.insert("id".to_owned(), json!(GREETING_ID));
        }
        asks.write_all(format!("{greeting}\n").as_bytes()).await?;
        asks.flush().await
    }
}

/// A line with its end, appended to `line`; false at the end of the input. What was read stays
/// in `line` when this is cancelled, so that nothing is lost.
async fn read_line(
    input: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<bool> {
    loop {
        let room = (MAX_LINE + 1).saturating_sub(line.len()) as u64;
        let read = (&mut *input).take(room).read_until(b'\n', line).await?;
        if line.ends_with(b"\n") {
            return Ok(true);
        }
        if read == 0 && !line.is_empty() && line.len() <= MAX_LINE {
            line.push(b'\n');
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
    }
}

/// Bytes of one line; the server's own bound is lower and answers better.
const MAX_LINE: usize = 64 * 1024 * 1024;
const GREETING_ID: &str = "narthex-takeover";
