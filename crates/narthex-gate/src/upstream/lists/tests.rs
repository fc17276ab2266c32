//! Lists of a server that has pages, and of servers that have too many.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::{List, ListCaps, whole_list};
use crate::upstream::{Connection, Greeting, UpstreamFault, UpstreamQuestion};

/// Answers with one page after the other; the last stays.
#[derive(Debug)]
struct Pages {
    pages: Vec<String>,
    asked: Mutex<Vec<Map<String, Value>>>,
}

impl Pages {
    fn page(&self, params: Map<String, Value>) -> Option<String> {
        let mut asked = self.asked.lock().expect("a lock");
        asked.push(params);
        self.pages.get(asked.len() - 1).or(self.pages.last()).cloned()
    }
}

#[async_trait]
impl Connection for Pages {
    fn greeting(&self) -> &Greeting {
        unimplemented_greeting()
    }

    async fn ask(&self, question: UpstreamQuestion) -> Result<Box<RawValue>, UpstreamFault> {
        assert_eq!(question.method, "tools/list");
        let Some(page) = self.page(question.params) else {
            std::future::pending::<()>().await;
            return Err(UpstreamFault::Busy);
        };
        Ok(RawValue::from_string(page).expect("JSON"))
    }

    fn lists_changed(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }

    fn ended(&self) -> Option<UpstreamFault> {
        None
    }

    async fn close(&self) {}
}

fn unimplemented_greeting() -> &'static Greeting {
    panic!("a list asks for no greeting")
}

async fn of(pages: &[&str], caps: &ListCaps) -> (Result<Vec<String>, UpstreamFault>, usize) {
    let pages = pages.iter().map(|page| (*page).to_owned()).collect();
    let server = Pages { pages, asked: Mutex::default() };
    let list = whole_list(&server, List::Tools, caps).await;
    let list = list.map(|items| items.iter().map(|item| item.get().to_owned()).collect());
    let asked = server.asked.lock().expect("a lock").len();
    (list, asked)
}

fn few() -> ListCaps {
    ListCaps { pages: 4, items: 5, bytes: 400, deadline: Duration::from_millis(200) }
}

#[tokio::test]
async fn pages_are_followed_and_items_stay_as_they_came() {
    let first = r#"{"tools":[{"z":1.50,"a":{}},{"name":"b"}],"nextCursor":"c1","ttlMs":5}"#;
    let second = r#"{"nextCursor":null,"tools":[{"name":"c"}]}"#;
    let (list, asked) = of(&[first, second], &few()).await;
    let whole = [r#"{"z":1.50,"a":{}}"#, r#"{"name":"b"}"#, r#"{"name":"c"}"#];
    assert_eq!((list.expect("a list"), asked), (whole.map(str::to_owned).to_vec(), 2));
    let (list, _) = of(&[r#"{"tools":[],"nextCursor":""}"#], &few()).await;
    assert!(list.expect("a list").is_empty());
}

#[tokio::test]
async fn f10_a_list_ends_at_its_caps() {
    let page = |cursor: &str| format!(r#"{{"tools":[{{}}],"nextCursor":"{cursor}"}}"#);
    let circle = [page("a"), page("b"), page("a")];
    let endless = ["a", "b", "c", "d", "e"].map(page);
    let many = r#"{"tools":[{},{},{},{},{},{}]}"#;
    let long = format!(r#"{{"tools":[{{"x":"{}"}}]}}"#, "a".repeat(500));
    let cursor = page(&"c".repeat(5000));
    let large = ListCaps { bytes: 10_000, ..few() };
    let texts = |pages: &[String]| pages.to_vec();
    for (pages, caps, word, asks) in [
        (texts(&circle), few(), "circle", 3),
        (texts(&endless), few(), "4 pages", 4),
        (vec![many.to_owned()], few(), "5 items", 1),
        (vec![long], few(), "at most 400", 1),
        (vec![cursor], large, "too long", 1),
        (vec![r#"{"tools":[],"tools":[]}"#.to_owned()], few(), "no list", 1),
        (vec![r#"{"tools":[],"nextCursor":"a","nextCursor":"b"}"#.to_owned()], few(), "no list", 1),
        (vec![r#"{"tools":{}}"#.to_owned()], few(), "no list", 1),
        (vec![r#"{"prompts":[]}"#.to_owned()], few(), "no list", 1),
        (vec![r#"{"tools":[],"nextCursor":5}"#.to_owned()], few(), "no list", 1),
        (vec![r#"{"tools":["x"]}"#.to_owned()], few(), "no object", 1),
        (vec!["[]".to_owned()], few(), "no list", 1),
    ] {
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let (list, asked) = of(&pages, &caps).await;
        let error = list.expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
        assert_eq!(asked, asks, "{word}");
    }
}

#[tokio::test]
async fn f19_a_list_has_one_deadline_for_all_of_its_pages() {
    let (list, _) = of(&[], &few()).await;
    assert!(matches!(list, Err(UpstreamFault::Late(_))));
}
