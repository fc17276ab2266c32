//! Family F, row by row: the whole catalogue of hostile definitions and answers thrown at the house, over
//! pipes and over HTTP, and where each row is tried. After every case the house is as it was.

use std::time::{Duration, Instant};

use narthex_server::owner::{ServerReply, ServerRequest};
use narthex_test::Client;
use narthex_test::upstream::attacks::{Reply, deep_tools, definitions, replies};
use narthex_test::upstream::{Id, Script, Step};
use serde_json::{Value, json};

use super::rig::{By, Rig, text};

const SECRET: &str = "planted-s3cret-value-1234";

/// Every row of the family, and what tries it: the catalogue below, or a test named after it.
const ROWS: [(&str, &str); 21] = [
    ("F01", "catalogue"),
    ("F03", "catalogue"),
    ("F04", "catalogue"),
    ("F06", "approvals"),
    ("F07", "catalogue"),
    ("F09", "catalogue"),
    ("F10", "catalogue"),
    ("F12", "catalogue"),
    ("F13", "family_f"),
    ("F15", "family_f"),
    ("F16", "hostile"),
    ("F18", "asks"),
    ("F19", "hostile"),
    ("F21", "hostile"),
    ("F22", "hostile"),
    ("F24", "family_f"),
    ("F25", "catalogue"),
    ("F27", "catalogue"),
    ("F28", "catalogue"),
    ("F30", "catalogue"),
    ("F31", "family_f"),
];

#[test]
fn every_row_is_tried_somewhere() {
    let tests = [
        ("approvals", include_str!("approvals.rs")),
        ("asks", include_str!("asks.rs")),
        ("family_f", include_str!("family_f.rs")),
        ("hostile", include_str!("hostile.rs")),
    ];
    for (row, by) in ROWS {
        let tried = if by == "catalogue" {
            let defined = definitions().iter().any(|definition| definition.row == row);
            defined || replies().iter().any(|reply| reply.row == row)
        } else {
            let name = format!("{}_", row.to_lowercase());
            let names = |line: &str| line.starts_with("async fn ") && line.contains(&name);
            tests.iter().any(|(file, source)| *file == by && source.lines().any(names))
        };
        assert!(tried, "{row} is tried nowhere in {by}");
    }
    let known = |row: &str| ROWS.iter().any(|(known, _)| *known == row) || row == "B01";
    assert!(definitions().iter().all(|definition| known(definition.row)));
    assert!(replies().iter().all(|reply| known(reply.row)));
}

/// What becomes of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It cannot be approved, whatever the owner says.
    Barred,
    /// It is approved by name alone.
    Quarantined,
    /// It is told of, and approved with the rest.
    Told(&'static str),
    /// Nothing is found, and what it says of itself counts for nothing.
    Plain,
}

fn fate(tool: &str) -> Fate {
    match tool {
        "f01_order" | "f01_parameter" | "f10_long" => Fate::Quarantined,
        "f09_shadow" => Fate::Told("shadowing"),
        "f10_recursive" => Fate::Told("recursive"),
        // Patterns are matched by an engine that takes linear time, whatever they are.
        "f07_delete_all" | "f10_pattern" => Fate::Plain,
        _ => Fate::Barred,
    }
}

/// A house with a good server that somebody else uses, to see whether they notice anything.
async fn rig() -> (Rig, Client) {
    let mut rig = Rig::new().await;
    rig.variables.set("PLANTED", SECRET);
    let good = Script::new().tool("echo", [Step::Echo]).tool("send_email", [Step::Echo]);
    rig.serve("mail", By::Pipes, &good, json!({})).await;
    let other = rig.client("somebody-else", "mail").await;
    (rig, other)
}

fn given(by: By) -> Value {
    match by {
        By::Pipes => json!({"env": {"PLANTED": "${PLANTED}"}}),
        By::Http => json!({"headers": {"X-Planted": "${PLANTED}"}}),
    }
}

/// After every case: another agent and another server are answered, the ledger verifies, and the
/// secret is in no record, no log and no error.
async fn unharmed(rig: &Rig, other: &Client, at: &str) {
    let began = Instant::now();
    let answer = other.call("echo", json!({"mark": "mine"})).await.unwrap();
    assert!(answer.is_ok() && answer.text.contains("mine"), "{at}: {answer:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{at}: {:?}", began.elapsed());
    let records = format!("{:?}", rig.house.records().await.unwrap());
    assert!(!records.contains(SECRET), "{at}: in the ledger");
    rig.house.verify().await.unwrap_or_else(|error| panic!("{at}: {error:#}"));
    for server in ["mail", "up"] {
        let request = ServerRequest::Logs { server: server.to_owned() };
        if let Ok(ServerReply::Logs(logs)) = rig.ask(request).await {
            assert!(!format!("{logs:?}").contains(SECRET), "{at}: in the log of {server}");
        }
    }
}

#[tokio::test]
async fn every_definition_of_the_catalogue_has_its_fate() {
    for by in By::ALL {
        let (mut rig, other) = rig().await;
        let mut script = Script::new();
        for definition in definitions() {
            script = script.defined(definition.tool, [Step::Echo]);
        }
        rig.name("up", by, &script, given(by)).await;
        rig.approve_start("up").await.unwrap();
        let offer = rig.look("up").await.unwrap();
        let shown = format!("{offer:?}");
        for hidden in ["\\u{1b}", "\\u{200b}", "\\u{e0101}", "\\u{202e}"] {
            assert!(!shown.contains(hidden), "{by:?} {hidden}");
        }
        for definition in definitions() {
            let name = definition.tool["name"].as_str().unwrap();
            let at = format!("{} {} {by:?}", definition.row, definition.what);
            let found =
                offer.definitions.iter().find(|d| d.name.to_string() == format!("tool:{name}"));
            let got = match found {
                None => Fate::Barred,
                Some(found) if found.barred.is_some() => {
                    let asked = vec![(found.name.clone(), found.digest)];
                    assert!(rig.approve_only("up", asked).await.is_err(), "{at}");
                    Fate::Barred
                }
                Some(found) if found.quarantined => Fate::Quarantined,
                Some(found) => match fate(name) {
                    Fate::Told(code) if found.findings.iter().any(|f| f.code == code) => {
                        Fate::Told(code)
                    }
                    _ => Fate::Plain,
                },
            };
            assert_eq!(got, fate(name), "{at} {:?}", found.map(|found| &found.findings));
        }
        // What can be approved, is: nothing of the rest is listed, and what is can be called.
        rig.approve("up").await.unwrap();
        let client = rig.client("anna", "up").await;
        let listed = client.tools().await.unwrap();
        assert!(listed.iter().all(|name| fate(name) != Fate::Barred), "{listed:?}");
        let evil = json!({"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"});
        let began = Instant::now();
        let answer = client.call("f10_pattern", evil).await.unwrap();
        assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "{answer:?}");
        let deep = (0..40).fold(json!({}), |inner, _| json!({"n": inner}));
        assert!(client.call("f10_recursive", deep).await.unwrap().is_ok());
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        unharmed(&rig, &other, &format!("{by:?}")).await;
    }
}

#[tokio::test]
async fn f10_lists_that_are_too_deep_or_too_long_are_no_lists() {
    let long = json!({"name": "long", "description": "x".repeat(5 << 20), "inputSchema": {"type": "object"}});
    for by in By::ALL {
        let (mut rig, other) = rig().await;
        for (what, script) in [
            ("depth 1000", Script::new().tool("deep", []).on("tools/list", [deep_tools(1_000)])),
            ("depth 50", Script::new().tool("deep", []).on("tools/list", [deep_tools(50)])),
            ("5 MB", Script::new().defined(long.clone(), [Step::Echo])),
        ] {
            let at = format!("{what} {by:?}");
            rig.name("up", by, &script, given(by)).await;
            rig.approve_start("up").await.unwrap();
            let began = Instant::now();
            // It is no list, or nothing of it can be approved.
            if let Ok(offer) = rig.look("up").await {
                let fit = offer.definitions.iter().filter(|d| d.barred.is_none());
                let fit: Vec<_> = fit.map(|d| d.name.to_string()).collect();
                assert!(fit.iter().all(|name| name == "server:info"), "{at} {fit:?}");
            }
            assert!(began.elapsed() < Duration::from_secs(8), "{at} {:?}", began.elapsed());
            unharmed(&rig, &other, &at).await;
            rig.house.house().servers().end(&"up".parse().unwrap()).await;
        }
    }
}

/// What must be in an answer, and what must not.
fn expected(reply: &Reply) -> (&'static [&'static str], &'static [&'static str]) {
    match (reply.row, reply.what) {
        ("F03", "tag characters") => (&["\"3\"", "tag"], &["\u{e0072}"]),
        ("F03", _) => (&["\"3\"", "bidi"], &["\u{202e}", "\u{200b}"]),
        ("F04", _) => (&["\"3\"", "sequence"], &["\u{1b}", "\\u001b", "52;c", "\u{9b}", "\\b"]),
        ("F25", "the same as an error") => (&["-32000"], &["/home/owner"]),
        ("F25", _) => (&["\"isError\":true"], &["/home/owner"]),
        ("F27", "an image that carries data out") => (&["\"image\""], &[]),
        ("F27", _) => (&["\"internal\""], &[]),
        ("F28", _) => (&["upstream_failed"], &["not a number"]),
        ("F30", "a page with a script") => (&["text/plain"], &["text/html"]),
        ("F30", "a script that says it is an image") => (&["text/plain"], &["image/png"]),
        ("F30", _) => (&["application/octet-stream"], &["image/gif"]),
        // One word, so that everyone reads the same.
        ("B01", _) => (&["\"isError\":true"], &["\"isError\":false"]),
        other => panic!("nobody said what comes of {other:?}"),
    }
}

#[tokio::test]
async fn every_answer_of_the_catalogue_comes_clean_bounded_and_marked() {
    for by in By::ALL {
        let (mut rig, other) = rig().await;
        let mut script = Script::new();
        for (n, reply) in replies().into_iter().enumerate() {
            let mut tool = json!({"name": format!("reply_{n}"), "inputSchema": {"type": "object"}});
            if reply.row == "F28" {
                tool["outputSchema"] =
                    json!({"type": "object", "properties": {"sum": {"type": "number"}}});
            }
            script = script.defined(tool, [reply.step]);
        }
        rig.serve("up", by, &script, given(by)).await;
        let client = rig.client("anna", "up").await;
        for (n, reply) in replies().iter().enumerate() {
            let at = format!("{} {} {by:?}", reply.row, reply.what);
            let answer = client.call(&format!("reply_{n}"), json!({})).await.unwrap();
            let (holds, hides) = expected(reply);
            for piece in holds {
                assert!(answer.text.contains(piece), "{at}: {piece} in {}", answer.text);
            }
            for piece in hides.iter().chain(&[SECRET]) {
                assert!(!answer.text.contains(piece), "{at}: {piece} in {}", answer.text);
            }
            unharmed(&rig, &other, &at).await;
        }
    }
}

/// Whether no other test runs in this process, and so uses its memory.
#[expect(clippy::disallowed_methods, reason = "who runs the tests")]
fn alone() -> bool {
    std::env::var_os("NEXTEST").is_some()
}

/// How much memory this process has now, and had at most since it was last asked.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let of = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
    };
    // From here on the most is counted anew.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    (of("VmRSS:"), of("VmHWM:"))
}

#[tokio::test]
async fn f13_a_line_without_an_end_is_cut_at_its_bound_and_so_is_memory() {
    const CAP: u64 = 4 << 20;
    for by in By::ALL {
        let (mut rig, other) = rig().await;
        let script = Script::new()
            .tool("endless", [Step::Endless(100 << 20), Step::text("never")])
            .tool("echo", [Step::Echo]);
        let mut more = given(by);
        more["limits"] = json!({"lineBytes": CAP});
        rig.serve("up", by, &script, more).await;
        let client = rig.client("anna", "up").await;
        assert!(client.call("echo", json!({})).await.unwrap().is_ok());
        let (before, _) = memory();
        let answer = client.call("endless", json!({})).await.unwrap();
        let (_, most) = memory();
        assert_eq!(answer.tool_code().as_deref(), Some("upstream_failed"), "{by:?}");
        let grown = most.saturating_sub(before);
        assert!(!alone() || grown <= CAP + (8 << 20), "{by:?}: {grown} bytes more");
        unharmed(&rig, &other, &format!("{by:?}")).await;
    }
}

#[tokio::test]
async fn f15_answers_of_nobodys_reach_nobody() {
    let said = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let rows = [
        ("wrong id", vec![Step::AnswerTo(Id::Off(1), said("leaked")), Step::text("right")]),
        (
            "foreign id",
            vec![Step::AnswerTo(Id::Fixed(json!(1)), said("leaked")), Step::text("right")],
        ),
        ("no id", vec![Step::AnswerTo(Id::Text, said("leaked")), Step::text("right")]),
        ("twice", vec![Step::text("right"), Step::Again, Step::Again]),
        (
            "garbage",
            vec![Step::Line("garbage {".into()), Step::Line("[]".into()), Step::text("right")],
        ),
        ("not text", vec![Step::Hex("fffe00".into()), Step::text("right")]),
        ("a flood", vec![Step::notify("notifications/message", 2_000), Step::text("right")]),
    ];
    for by in By::ALL {
        let (mut rig, other) = rig().await;
        let mut script = Script::new();
        for (n, (_, steps)) in rows.iter().enumerate() {
            script = script.tool(&format!("t{n}"), steps.clone());
        }
        rig.serve("up", by, &script, given(by)).await;
        let client = rig.client("anna", "up").await;
        for round in 0..3 {
            for (n, (what, _)) in rows.iter().enumerate() {
                let answer = client.call(&format!("t{n}"), json!({})).await.unwrap();
                let at = format!("{what} {round} {by:?}");
                assert_eq!(text(&answer.result()), "right", "{at} {:.500}", answer.text);
                assert!(!answer.text.contains("leaked"), "{at}");
            }
        }
        unharmed(&rig, &other, &format!("{by:?}")).await;
    }
}

/// Another program or other arguments are in `approvals`; here it is another address.
#[tokio::test]
async fn f24_another_address_is_not_reached() {
    let (mut rig, other) = rig().await;
    let script = Script::new().tool("echo", [Step::Echo]);
    rig.serve("up", By::Http, &script, given(By::Http)).await;
    let client = rig.client("anna", "up").await;
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    // Another server under the same name, which nobody approved.
    rig.name("up", By::Http, &script, given(By::Http)).await;
    let answer = client.call("echo", json!({})).await.unwrap();
    assert_eq!(answer.tool_code().as_deref(), Some("upstream_failed"), "{answer:?}");
    assert!(rig.http["up"].came().is_empty(), "it was reached");
    unharmed(&rig, &other, "another address").await;
}

#[tokio::test]
async fn f31_another_version_is_an_event() {
    for by in By::ALL {
        let (mut rig, other) = rig().await;
        let mut script = Script::new().tool("echo", [Step::Echo]);
        script.offer.server_info = Some(json!({"name": "x", "version": "1"}));
        rig.serve("up", by, &script, given(by)).await;
        let since = rig.house.seq().await.unwrap();
        script.offer.server_info = Some(json!({"name": "x", "version": "2"}));
        rig.name("up", by, &script, given(by)).await;
        rig.approve_start("up").await.unwrap();
        let client = rig.client("anna", "up").await;
        assert!(client.call("echo", json!({})).await.unwrap().is_ok(), "{by:?}");
        let actions = rig.actions_since(since).await;
        assert!(actions.iter().any(|action| action == "server.changed"), "{by:?} {actions:?}");
        unharmed(&rig, &other, &format!("{by:?}")).await;
    }
}
