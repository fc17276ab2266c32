//! What a server says a call cost: a figure, or no answer; and the most the owner says that it costs.

use narthex_core::{Budget, Cost, Mode, Outcome, Phase, Reason};
use narthex_test::HouseOptions;
use narthex_test::upstream::{Script, Step};
use serde_json::{Map, json};

use super::rig::{By, Rig};

fn costing(figure: &str) -> Step {
    Step::Written(format!(
        r#"{{"resultType":"complete","content":[{{"type":"text","text":"bought"}}],"_meta":{{"narthex/cost":{figure}}}}}"#
    ))
}

async fn rig(most: f64) -> Rig {
    let mut options = HouseOptions { mode: Mode::Open, ..HouseOptions::default() };
    let cost = Some(Cost::from_figure(most).unwrap());
    options.gate.budget = Budget { cost, ..Budget::default() };
    Rig::with(options).await
}

async fn spent(rig: &Rig) -> u64 {
    use narthex_store::Clock as _;
    let (store, holder) = (rig.house.store(), rig.holder("anna").await);
    let spent = store.spent(holder).await.unwrap();
    let now = narthex_store::SystemClock.now();
    spent.within(now, Budget::default().window()).cost.millionths()
}

/// E13: a cost that is none is no answer, and free it is not.
#[tokio::test]
async fn e13_what_is_no_cost_is_refused_and_recorded() {
    let rows = [
        ("0", Some(0)),
        ("0.25", Some(250_000)),
        ("1", Some(1_000_000)),
        ("-1", None),
        ("-0.0000001", None),
        ("1e308", None),
        ("1000000001", None),
        (r#""1""#, None),
        (r#""NaN""#, None),
        ("null", None),
        ("true", None),
        ("[1]", None),
        (r#"{"amount":1}"#, None),
    ];
    for by in By::ALL {
        let mut rig = rig(100.0).await;
        let (mut script, mut rules) = (Script::new(), Map::new());
        for (n, (figure, _)) in rows.iter().enumerate() {
            script = script.tool(&format!("buy{n}"), [costing(figure)]);
            rules.insert(format!("buy{n}"), json!({"cost": 2.5}));
        }
        rig.serve("up", by, &script, json!({"tools": rules})).await;
        let client = rig.client("anna", "up").await;
        let mut before = 0;
        for (n, (figure, charged)) in rows.into_iter().enumerate() {
            let since = rig.house.seq().await.unwrap();
            let answer = client.call(&format!("buy{n}"), json!({})).await.unwrap();
            let records = rig.house.records_after(since).await.unwrap();
            let outcome = records.iter().find(|record| record.draft.phase == Phase::Outcome);
            let outcome = &outcome.unwrap_or_else(|| panic!("{figure} {by:?} {answer:?}")).draft;
            if let Some(charged) = charged {
                assert!(answer.is_ok(), "{figure} {by:?} {answer:?}");
                assert_eq!(outcome.cost, Some(Cost::from_millionths(charged)), "{figure}");
            } else {
                let code = answer.tool_code();
                assert_eq!(code.as_deref(), Some("upstream_failed"), "{figure} {answer:?}");
                assert!(!answer.text.contains("bought"), "{figure} {answer:?}");
                let said = (outcome.outcome, outcome.reason);
                assert_eq!(said, (Outcome::Error, Reason::UpstreamFailed), "{figure}");
            }
            before += charged.unwrap_or(2_500_000);
            assert_eq!(spent(&rig).await, before, "{figure} {by:?}");
        }
    }
}

/// What the owner says a call costs at most is put in reserve, so that many at once do not spend more
/// than there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_most_a_call_costs_is_held_while_it_is_under_way() {
    let mut rig = rig(5.0).await;
    let script = Script::new().tool("buy", [Step::Sleep(150), costing("1")]);
    let rules = json!({"tools": {"buy": {"cost": 1}}});
    rig.serve("up", By::Pipes, &script, rules).await;
    let client = rig.client("anna", "up").await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let client = client.clone();
        calls.spawn(async move { client.call("buy", json!({})).await.unwrap().is_ok() });
    }
    let done = calls.join_all().await.into_iter().filter(|done| *done).count();
    assert_eq!(done, 5);
    assert_eq!(spent(&rig).await, 5_000_000);
}
