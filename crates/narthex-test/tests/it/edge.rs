//! Who may talk to the house at all: Host and Origin, on every route, whatever the credential, and
//! the refusals in the ledger.

use narthex_core::{Actor, Outcome, Phase, Reason};
use narthex_test::{HouseOptions, Persona, TestHouse};
use serde_json::json;

/// A header, its value, and why it is refused (none: it is answered).
const ROWS: &[(&str, &str, Option<Reason>)] = &[
    ("origin", "https://evil.example", Some(Reason::ForbiddenOrigin)),
    ("origin", "null", Some(Reason::ForbiddenOrigin)),
    ("origin", "http://localhost", Some(Reason::ForbiddenOrigin)),
    ("origin", "http://127.0.0.1", Some(Reason::ForbiddenOrigin)),
    ("origin", "https://app.ok.com.evil", Some(Reason::ForbiddenOrigin)),
    ("origin", "http://app.ok.com", Some(Reason::ForbiddenOrigin)),
    ("origin", "https://app.ok.com:8443", Some(Reason::ForbiddenOrigin)),
    ("origin", "https://APP.ok.com.", Some(Reason::ForbiddenOrigin)),
    ("origin", "https://app.ok.com", None),
    ("host", "evil.example", Some(Reason::ForbiddenHost)),
    ("host", "localhost.evil.example", Some(Reason::ForbiddenHost)),
    ("host", "127.0.0.1.evil.example:80", Some(Reason::ForbiddenHost)),
    ("host", "169.254.169.254", Some(Reason::ForbiddenHost)),
    ("host", "localhost:1234", None),
    ("host", "[::1]", None),
];

#[tokio::test]
async fn host_and_origin_are_closed_and_refusals_are_recorded() -> anyhow::Result<()> {
    let mut options =
        HouseOptions { origins: vec!["https://app.ok.com".to_owned()], ..HouseOptions::default() };
    // Each refusal is a record of its own here; otherwise the first of a window is, with a count after it.
    options.gate.refusal_window = std::time::Duration::ZERO;
    let house = TestHouse::with(options).await?;
    let agent = house.client(Persona::AgentA);
    for (header, value, refused) in ROWS {
        let before = house.records().await?.len();
        let message = agent.message("tools/call", json!({"name": "context", "arguments": {}}));
        let answer = agent.send(&[(header, value)], &message).await?;
        let records = house.records().await?.split_off(before);
        match refused {
            None => assert!(answer.is_ok(), "{header}: {value}: {answer:?}"),
            Some(reason) => {
                assert_eq!(answer.status, 403, "{header}: {value}");
                assert_eq!(answer.door_code().as_deref(), Some(reason.code()), "{header}: {value}");
                assert_eq!(records.len(), 1, "{header}: {value}: {records:?}");
                let record = &records[0].draft;
                assert_eq!(
                    (record.phase, record.outcome, record.reason),
                    (Phase::Refused, Outcome::Refused, *reason)
                );
                assert_eq!(record.actor, Actor::Nobody, "nobody was asked who they are");
            }
        }
        assert!(
            answer.headers.iter().all(|(name, _)| !name.starts_with("access-control-")),
            "{answer:?}"
        );
    }
    house.stop().await?;
    Ok(())
}
