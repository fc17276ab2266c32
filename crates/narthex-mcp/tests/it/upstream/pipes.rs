//! A process that behaves: results as they came, progress, cancellation, lists, requests of its own.

use std::sync::Arc;
use std::time::Duration;

use narthex_gate::upstream::{Terms, UpstreamFault, UpstreamQuestion};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::peer::{Peer, legacy, legacy_with, modern, modern_greeting};
use super::{Answers, ask, call, connect, terms, until};

#[tokio::test]
async fn a_result_is_handed_on_byte_for_byte() {
    let (connection, mut peer) = legacy(terms()).await;
    let result = r#"{ "z":1.50, "content":[{"type":"hologram","x":1e400}], "a":{"k":1,"k":2} }"#;
    let (answer, ()) = tokio::join!(connection.ask(call("t")), async {
        let id = peer.next().await["id"].clone();
        peer.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
    });
    assert_eq!(answer.expect("a result").get(), result);
    let (answer, ()) = tokio::join!(connection.ask(call("t")), async {
        let asked = peer.next().await;
        peer.answer(&asked, &json!({"resultType": "input_required", "requestState": "s"})).await;
    });
    let answer = answer.expect("a result");
    assert_eq!(answer.get(), r#"{"resultType":"input_required","requestState":"s"}"#);
}

#[tokio::test]
async fn many_questions_at_once_each_get_their_own_answer() {
    let (connection, mut peer) = legacy(Terms { questions: 64, ..terms() }).await;
    let asking = futures::future::join_all((0..64).map(|n| {
        let connection = Arc::clone(&connection);
        async move { connection.ask(ask("x", &json!({"n": n}))).await }
    }));
    let (answers, ()) = tokio::join!(asking, async {
        let mut asked = Vec::new();
        for _ in 0..64 {
            asked.push(peer.next().await);
        }
        for asked in asked.iter().rev() {
            peer.answer(asked, &json!({"n": asked["params"]["n"]})).await;
        }
    });
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.expect("a result").get(), format!(r#"{{"n":{n}}}"#));
    }
    assert_eq!(connection.passed_over(), 0);
}

#[tokio::test]
async fn ids_cannot_be_guessed() {
    let mut first = Vec::new();
    for _ in 0..4 {
        let (line, mut peer) = Peer::new();
        let (_connection, id) = tokio::join!(connect(line, terms()), async {
            let discover = peer.next().await;
            peer.answer(&discover, &modern_greeting()).await;
            discover["id"].as_u64().expect("a number")
        });
        first.push(id);
    }
    let near = |a: u64, b: u64| a.abs_diff(b) < 1 << 20;
    for (n, a) in first.iter().enumerate() {
        assert!(*a < 1 << 53, "exact as a double");
        assert!(first[n + 1..].iter().all(|b| !near(*a, *b)), "{first:?}");
    }
}

#[tokio::test]
async fn f19_who_does_not_answer_is_left_and_told_and_its_place_is_free() {
    for slow in [
        legacy(Terms { questions: 1, ..terms() }).await,
        modern(Terms { questions: 1, ..terms() }).await,
    ] {
        let (connection, mut peer) = slow;
        let deadline = Duration::from_millis(100);
        let late = connection.ask(UpstreamQuestion { deadline, ..call("slow") }).await;
        assert!(matches!(late, Err(UpstreamFault::Late(_))), "{late:?}");
        let asked = peer.next().await;
        let cancelled = peer.next().await;
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], asked["id"]);
        // The late answer is nobody's, and the next question gets its own.
        peer.answer(&asked, &json!({"late": true})).await;
        let (answer, ()) = tokio::join!(connection.ask(call("next")), async {
            let asked = peer.next().await;
            peer.answer(&asked, &json!({"next": true})).await;
        });
        assert_eq!(answer.expect("a result").get(), r#"{"next":true}"#);
        assert_eq!(connection.passed_over(), 1);
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_is_taken_back() {
    let (connection, mut peer) = legacy(terms()).await;
    let mut asking = Box::pin(connection.ask(call("slow")));
    let asked = tokio::select! {
        _ = &mut asking => panic!("nobody answered"),
        asked = peer.next() => asked,
    };
    drop(asking);
    let cancelled = peer.next().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
    // One that was answered is not.
    let (answer, ()) = tokio::join!(connection.ask(call("quick")), async {
        let asked = peer.next().await;
        peer.answer(&asked, &json!({})).await;
    });
    answer.expect("a result");
    connection.close().await;
    assert!(peer.read().await.is_none(), "nothing but the end follows");
}

#[tokio::test]
async fn more_questions_than_agreed_are_refused() {
    let (connection, _peer) = legacy(Terms { questions: 1, ..terms() }).await;
    let mut first = Box::pin(connection.ask(call("slow")));
    assert!(futures::poll!(&mut first).is_pending());
    assert!(matches!(connection.ask(call("more")).await, Err(UpstreamFault::Busy)));
}

#[tokio::test]
async fn progress_reaches_the_question_it_is_about() {
    let (connection, mut peer) = modern(terms()).await;
    let (to, mut heard) = mpsc::channel(8);
    let question = UpstreamQuestion { progress: Some(to), ..call("long") };
    let say = |token: &Value, n: u8| {
        json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": n, "total": 9, "message": "m"}})
        .to_string()
    };
    let (answer, ()) = tokio::join!(connection.ask(question), async {
        let asked = peer.next().await;
        let token = asked["params"]["_meta"]["progressToken"].clone();
        peer.say(&say(&json!("foreign"), 1)).await;
        peer.say(&say(&json!(1), 2)).await;
        peer.say(&say(&token, 3)).await;
        peer.say(&say(&token, 3)).await;
        peer.answer(&asked, &json!({})).await;
        peer.say(&say(&token, 4)).await;
    });
    answer.expect("a result");
    let said = heard.recv().await.expect("progress");
    assert_eq!((said.progress, said.total, said.message.as_deref()), (3.0, Some(9.0), Some("m")));
    assert!(heard.recv().await.is_none(), "and nothing else");
}

#[tokio::test]
async fn announced_changes_of_lists_are_counted() {
    let (connection, mut peer) = legacy(terms()).await;
    let mut changed = connection.lists_changed();
    for list in ["tools", "prompts", "resources"] {
        let said =
            json!({"jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed")});
        peer.say(&said.to_string()).await;
        changed.changed().await.expect("a change");
    }
    assert_eq!(*changed.borrow(), 3);
    let (line, mut peer) = Peer::new();
    let (connection, ()) = tokio::join!(connect(line, terms()), async {
        let discover = peer.next().await;
        let mut greeting = modern_greeting();
        greeting["capabilities"] = json!({"tools": {"listChanged": true}, "prompts": {}});
        peer.answer(&discover, &greeting).await;
    });
    let connection = connection.expect("a connection");
    let listen = peer.next_of("subscriptions/listen").await;
    assert_eq!(listen["params"]["notifications"], json!({"toolsListChanged": true}));
    peer.say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#).await;
    connection.lists_changed().wait_for(|count| *count == 1).await.expect("a change");
}

#[tokio::test]
async fn a_server_may_ask_what_was_declared_and_somebody_answers() {
    let answers = Arc::new(Answers::default());
    let (connection, mut peer) = legacy_with(terms(), Arc::clone(&answers) as _).await;
    peer.say(r#"{"jsonrpc":"2.0","id":"r-1","method":"roots/list","params":{"a":1}}"#).await;
    let answer = peer.next().await;
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "r-1", "result": {"roots": []}}));
    peer.say(r#"{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage"}"#).await;
    assert_eq!(peer.next().await["error"]["code"], -1);
    let seen = answers.seen.lock().expect("a lock").clone();
    assert_eq!(seen[0], ("roots/list".to_owned(), json!({"a": 1})));
    assert_eq!(seen.len(), 2);
    drop(connection);
}

#[tokio::test]
async fn a_server_may_take_its_request_back_and_not_ask_twice_under_one_id() {
    let answers = Arc::new(Answers::default());
    let (_connection, mut peer) = legacy_with(terms(), Arc::clone(&answers) as _).await;
    let asks = r#"{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}}"#;
    for _ in 0..20 {
        peer.say(asks).await;
        until(|| !answers.seen.lock().expect("a lock").is_empty()).await;
        peer.say(asks).await;
        assert_eq!(peer.next().await["error"]["code"], -32600, "it is in use");
        let seen = std::mem::take(&mut *answers.seen.lock().expect("a lock"));
        assert_eq!(seen.len(), 1);
        let back =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"e"}}"#;
        peer.say(back).await;
        peer.say(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).await;
        assert_eq!(peer.next().await["id"], 9, "nothing is answered, and its place is free");
    }
}

/// Whoever asks more than is answered at once is not answered, and costs no more.
#[tokio::test]
async fn f16_requests_at_once_are_bounded() {
    let answers = Arc::new(Answers::default());
    let (connection, mut peer) = legacy_with(terms(), Arc::clone(&answers) as _).await;
    for id in 0..50 {
        let asks = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create"});
        peer.say(&asks.to_string()).await;
    }
    until(|| connection.passed_over() == 46).await;
    until(|| answers.seen.lock().expect("a lock").len() == 4).await;
}

#[tokio::test]
async fn dropping_the_connection_ends_everything() {
    let (connection, mut peer) = legacy(terms()).await;
    let mut asking = Box::pin({
        let connection = Arc::clone(&connection);
        async move { connection.ask(call("slow")).await }
    });
    assert!(futures::poll!(&mut asking).is_pending());
    drop(asking);
    drop(connection);
    while peer.read().await.is_some() {}
    let more = vec![b'x'; 300 << 10];
    until(|| futures::FutureExt::now_or_never(peer.mumble(&more)) == Some(false)).await;
}
