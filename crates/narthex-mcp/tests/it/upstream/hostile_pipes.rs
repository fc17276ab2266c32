//! A process that misbehaves, in every way that family F names and some more.

use std::time::{Duration, Instant};

use narthex_gate::upstream::{Connection, Terms, UpstreamFault, UpstreamQuestion};
use serde_json::{Value, json};

use super::peer::{Peer, legacy, modern};
use super::{call, terms};

/// Asks, lets the peer do its worst with the question, and then answers it properly.
async fn survives(
    connection: &dyn Connection,
    peer: &mut Peer,
    worst: &[&str],
) -> Result<String, UpstreamFault> {
    let (answer, ()) = tokio::join!(connection.ask(call("t")), async {
        let asked = peer.next_of("tools/call").await;
        let id = asked["id"].as_u64().expect("a number");
        for said in worst {
            let said = said
                .replace("ID+1", &(id + 1).to_string())
                .replace("ID-1", &(id - 1).to_string())
                .replace("ID", &id.to_string());
            peer.say(&said).await;
        }
        peer.answer(&asked, &json!({"right": true})).await;
    });
    answer.map(|raw| raw.get().to_owned())
}

const EVIL: &str = r#"{"evil":true}"#;

#[tokio::test]
async fn f15_what_was_not_asked_reaches_nobody() {
    for (worst, counted) in [
        (format!(r#"{{"jsonrpc":"2.0","id":ID+1,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":ID-1,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":0,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":"ID","result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":ID.0,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":-ID,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":null,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":[ID],"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","result":{EVIL}}}"#), 1),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#.to_owned(), 1),
        // Not one message, or not one meaning.
        (format!(r#"[{{"jsonrpc":"2.0","id":ID,"result":{EVIL}}}]"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":0,"id":ID,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{EVIL},"result":{{}}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{EVIL},"error":{{"code":1}}}}"#), 1),
        (format!(r#"{{"jsonrpc":"1.0","id":ID,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"id":ID,"result":{EVIL}}}"#), 1),
        (format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{EVIL}}} trailing"#), 1),
        ("Listening on stdin...".to_owned(), 1),
        ("\u{feff}{}".to_owned(), 1),
        ("{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"a\":\"\u{0}\"}}".to_owned(), 1),
        ("[".repeat(20_000), 1),
        // Said by the way.
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#.to_owned(), 0),
        (r#"{"jsonrpc":"2.0","method":"notifications/unheard/of"}"#.to_owned(), 0),
        (r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}"#.to_owned(), 0),
        (r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":1}}"#.to_owned(), 1),
    ] {
        for (connection, mut peer) in [legacy(terms()).await, modern(terms()).await] {
            let right = survives(&*connection, &mut peer, &[&worst]).await;
            assert_eq!(right.expect(&worst), r#"{"right":true}"#, "{worst:.100}");
            assert_eq!(connection.passed_over(), counted, "{worst:.100}");
        }
    }
}

#[tokio::test]
async fn f15_a_second_answer_is_not_the_next_questions() {
    let (connection, mut peer) = legacy(terms()).await;
    let (first, ()) = tokio::join!(connection.ask(call("a")), async {
        let asked = peer.next_of("tools/call").await;
        for n in 0..50 {
            peer.answer(&asked, &json!({"n": n})).await;
        }
    });
    assert_eq!(first.expect("the first").get(), r#"{"n":0}"#);
    assert_eq!(survives(&*connection, &mut peer, &[]).await.expect("its own"), r#"{"right":true}"#);
    assert_eq!(connection.passed_over(), 49);
}

#[tokio::test]
async fn a_result_that_is_too_large_or_none_fails_its_question_alone() {
    let (connection, mut peer) = legacy(terms()).await;
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(20_000));
    let said = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{large}}}"#);
    match survives(&*connection, &mut peer, &[&said]).await {
        Err(UpstreamFault::TooLarge { size: Some(size), most: 16_384 }) => {
            assert_eq!(size, large.len() as u64);
        }
        other => panic!("{other:?}"),
    }
    for result in ["[]", "null", "\"x\"", "5"] {
        let said = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#);
        let garbled = survives(&*connection, &mut peer, &[&said]).await;
        assert!(matches!(garbled, Err(UpstreamFault::Garbled(_))), "{result}: {garbled:?}");
    }
    assert!(survives(&*connection, &mut peer, &[]).await.is_ok());
}

#[tokio::test]
async fn f13_a_line_over_the_bound_fails_the_question_it_was_for() {
    let (connection, mut peer) = legacy(terms()).await;
    let x = "x".repeat(100 << 10);
    for said in [
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":"{x}"}}}}"#),
        format!(r#"{{"result":{{"a":"{x}"}},"jsonrpc":"2.0","id":ID}}"#),
    ] {
        match survives(&*connection, &mut peer, &[&said]).await {
            Err(UpstreamFault::TooLarge { size: Some(size), most: 65_536 }) => {
                assert!(size > 100 << 10);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(survives(&*connection, &mut peer, &[]).await.is_ok(), "the connection stands");
    // Nobody can say whose this was.
    let fault = survives(&*connection, &mut peer, &[&x]).await.expect_err("ended");
    assert!(matches!(fault, UpstreamFault::TooLarge { .. }), "{fault:?}");
    assert!(connection.ended().is_some());
    assert!(connection.ask(call("t")).await.is_err());
}

#[tokio::test]
async fn f13_a_line_that_never_ends_ends_the_connection() {
    let (connection, mut peer) = legacy(terms()).await;
    let (fault, written) = tokio::join!(connection.ask(call("t")), async {
        let (mut written, piece) = (0_usize, vec![b'x'; 64 << 10]);
        while written < 100 << 20 && peer.mumble(&piece).await {
            written += 64 << 10;
        }
        written
    });
    assert!(matches!(fault, Err(UpstreamFault::Garbled(_))), "{fault:?}");
    assert!(written < 4 << 20, "100 MB were not read: {written}");
}

#[tokio::test]
async fn who_goes_away_fails_all_that_wait_and_all_that_come() {
    let (connection, mut peer) = legacy(terms()).await;
    let (first, second, ()) =
        tokio::join!(connection.ask(call("a")), connection.ask(call("b")), async {
            peer.next().await;
            peer.next().await;
            peer.mumble(b"{\"jsonrpc\":\"2.0\",\"id\":").await;
            peer.end().await;
        });
    for fault in [first, second, connection.ask(call("c")).await] {
        assert!(matches!(fault, Err(UpstreamFault::Ended(_))), "{fault:?}");
    }
    assert!(matches!(connection.ended(), Some(UpstreamFault::Ended(_))));
}

#[tokio::test]
async fn f16_what_a_server_asks_is_refused() {
    let (connection, mut peer) = legacy(terms()).await;
    for method in ["sampling/createMessage", "roots/list", "elicitation/create", "tools/call", "x"]
    {
        peer.say(&json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}}).to_string())
            .await;
        let answer = peer.next().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(7), &json!(-32601)),
            "{method}"
        );
    }
    peer.say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
    assert_eq!(peer.next().await, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    peer.say(r#"{"jsonrpc":"2.0","id":8,"method":"roots/list","params":{"a":1,"a":2}}"#).await;
    assert_eq!(peer.next().await["error"]["code"], -32602, "doubled keys are not passed on");
    drop(connection);
    // The newer revisions have no such requests: not even a refusal.
    let (connection, mut peer) = modern(terms()).await;
    for method in ["ping", "sampling/createMessage", "roots/list", "elicitation/create"] {
        peer.say(&json!({"jsonrpc": "2.0", "id": 7, "method": method}).to_string()).await;
    }
    assert!(survives(&*connection, &mut peer, &[]).await.is_ok());
    assert_eq!(connection.passed_over(), 4);
    connection.close().await;
    assert_eq!(peer.read().await, None);
}

/// Whoever never reads its answers cannot make us keep them.
#[tokio::test]
async fn f16_requests_that_flood_are_bounded() {
    let (connection, mut peer) = legacy(terms()).await;
    for n in 0..2000 {
        peer.say(&json!({"jsonrpc": "2.0", "id": n, "method": "ping"}).to_string()).await;
    }
    let late = UpstreamQuestion { deadline: Duration::from_secs(2), ..call("t") };
    let (answer, ()) = tokio::join!(connection.ask(late), async {
        let asked = peer.next_of("tools/call").await;
        peer.answer(&asked, &json!({})).await;
    });
    answer.expect("it is answered all the same");
}

#[tokio::test]
async fn a_flood_of_notifications_is_read_no_faster_than_it_should_be() {
    let (connection, mut peer) = legacy(terms()).await;
    let flood =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n".repeat(100);
    let begun = Instant::now();
    let mut written = 0;
    while begun.elapsed() < Duration::from_secs(1) {
        let flooding = peer.mumble(flood.as_bytes());
        if tokio::time::timeout(Duration::from_millis(100), flooding).await == Ok(true) {
            written += 100;
        }
    }
    // Some 4,000 fit into the pipe, and 200 are read in a tenth of a second.
    assert!(written < 12_000, "{written} were taken in a second");
    let changes = *connection.lists_changed().borrow();
    assert!(changes < 4000, "{changes}");
}

/// A process that does not read its input holds up its own questions alone, and not for ever.
#[tokio::test]
async fn who_does_not_read_is_left() {
    let (connection, _peer) = legacy(Terms { questions: 64, ..terms() }).await;
    let large = json!({"name": "t", "arguments": {"a": "x".repeat(100 << 10)}});
    let deadline = Duration::from_millis(200);
    let question = || UpstreamQuestion { deadline, ..super::ask("tools/call", &large) };
    let all = futures::future::join_all((0..40).map(|_| connection.ask(question()))).await;
    assert!(all.iter().all(|answer| matches!(answer, Err(UpstreamFault::Late(_)))), "{all:?}");
    connection.close().await;
}

#[tokio::test]
async fn words_of_ours_hold_nothing_of_the_servers() {
    let (connection, mut peer) = legacy(terms()).await;
    let (fault, ()) = tokio::join!(connection.ask(call("t")), async {
        let asked = peer.next().await;
        peer.refuse(&asked, -32000, &Value::String("s3cret".into())).await;
    });
    let fault = fault.expect_err("refused");
    assert!(!fault.to_string().contains("s3cret") && !fault.to_string().contains("no"), "{fault}");
}
