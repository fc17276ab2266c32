//! The server on its own stdin and stdout.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Script;
use super::announce::Listener;
use super::call::Call;
use super::chat::{Chat, Message, Request};
use super::deeds;
use super::mouth::{Mouth, Said};
use super::stage::Stage;

/// Serves until its input ends, and then some if the script says so.
pub(super) async fn serve(script: Script) {
    if script.ignore_term {
        deeds::ignore_term();
    }
    let (start, ignore_eof) = (script.start.clone(), script.ignore_eof);
    let stage = Arc::new(Stage::new(script, true));
    let chat = Arc::new(Chat::new(Arc::clone(&stage)));
    let (mouth, said) = Mouth::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(write(tokio::io::stdout(), said));
    prepare(&chat, &mouth, &start).await;
    stage.listen(Listener::new(mouth.clone(), None));
    let watching = Arc::clone(&stage);
    tasks.spawn(async move { watching.watch().await });
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Message::Request(request) = chat.take(&message, Vec::new()) {
            let (chat, mouth) = (Arc::clone(&chat), mouth.clone());
            tasks.spawn(async move { chat.answer(request, mouth).await });
        }
    }
    if ignore_eof {
        std::future::pending::<()>().await;
    }
    // What is written already is worth a moment; what is not yet is not waited for.
    let _ = tokio::time::timeout(Duration::from_millis(200), mouth.written()).await;
}

async fn prepare(chat: &Arc<Chat>, mouth: &Mouth, steps: &[super::Step]) {
    let (id, params) = (Value::Null, json!({}));
    let request = Request { id, method: String::new(), params, headers: Vec::new() };
    let mut call = Call::new(Arc::clone(chat), request, mouth.clone(), CancellationToken::new());
    call.prepare(steps).await;
}

async fn write(mut to: impl AsyncWrite + Unpin, mut said: mpsc::Receiver<Said>) {
    while let Some(said) = said.recv().await {
        let written = match said {
            Said::Line(mut line) => {
                line.push(b'\n');
                to.write_all(&line).await
            }
            Said::Piece(piece) => to.write_all(&piece).await,
            Said::Drip(mut line, every) => {
                line.push(b'\n');
                drip(&mut to, &line, every).await
            }
            Said::Status { .. } => Ok(()),
            Said::Written(tell) => {
                let _ = tell.send(());
                Ok(())
            }
        };
        if written.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

/// One byte at a time.
pub(super) async fn drip(
    to: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    every: Duration,
) -> std::io::Result<()> {
    for byte in bytes {
        to.write_all(&[*byte]).await?;
        to.flush().await?;
        tokio::time::sleep(every).await;
    }
    Ok(())
}
