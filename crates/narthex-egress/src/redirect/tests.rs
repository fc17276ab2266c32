use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, LOCATION};
use http::{Method, StatusCode};

use super::Hop;
use crate::config::EgressConfig;
use crate::error::RedirectFault;
use crate::message::Fetched;
use crate::policy::EgressPolicy;

fn hop(method: Method, body: &'static str) -> Hop {
    let mut headers = HeaderMap::new();
    for name in ["accept", "authorization", "cookie", "x-api-key", "content-type"] {
        headers.insert(name, HeaderValue::from_static("v"));
    }
    Hop { method, headers, body: Bytes::from_static(body.as_bytes()) }
}

fn next(hop: &Hop, status: u16, locations: &[&str]) -> Result<Hop, RedirectFault> {
    let policy = EgressPolicy::new(EgressConfig::default()).expect("a policy");
    let from = policy.judge_url("https://a.example/x").expect("a target");
    let mut headers = HeaderMap::new();
    for location in locations {
        headers.append(LOCATION, HeaderValue::from_str(location).expect("a value"));
    }
    let status = StatusCode::from_u16(status).expect("a status");
    let answer = Fetched { status, headers, body: Bytes::new() };
    hop.next(&policy, &from, &answer).map(|(hop, _)| hop)
}

/// Which method goes where: status, same origin?, method → method, or refused.
#[test]
fn methods_and_bodies_by_status() {
    let (here, there) = ("/y", "https://b.example/y");
    for (status, to, method, expected) in [
        (301, here, Method::GET, Some(Method::GET)),
        (302, there, Method::HEAD, Some(Method::HEAD)),
        (301, here, Method::POST, None),
        (302, there, Method::POST, None),
        (303, here, Method::POST, Some(Method::GET)),
        (303, there, Method::POST, Some(Method::GET)),
        (303, there, Method::HEAD, Some(Method::HEAD)),
        (307, here, Method::POST, Some(Method::POST)),
        (308, here, Method::DELETE, Some(Method::DELETE)),
        (307, there, Method::POST, None),
        (308, there, Method::DELETE, None),
    ] {
        let body = if method == Method::POST { "body" } else { "" };
        let found = next(&hop(method.clone(), body), status, &[to]);
        assert_eq!(found.as_ref().ok().map(|hop| hop.method.clone()), expected, "{status} {to}");
        if let Ok(sent) = found {
            assert_eq!(sent.body.is_empty(), sent.method != Method::POST, "{status} {to}");
        }
    }
    let with_body = next(&hop(Method::GET, "body"), 302, &[there]);
    assert_eq!(with_body.err(), Some(RedirectFault::Resend(Method::GET)));
}

#[test]
fn another_origin_sees_only_what_is_known_to_be_harmless() {
    let names = |hop: &Hop| hop.headers.keys().map(ToString::to_string).collect::<Vec<_>>();
    let get = hop(Method::GET, "");
    assert_eq!(next(&get, 302, &["/y"]).map(|hop| names(&hop).len()), Ok(5));
    for elsewhere in ["https://b.example/", "https://a.example:444/", "//b.example"] {
        assert_eq!(next(&get, 302, &[elsewhere]).map(|hop| names(&hop)), Ok(vec!["accept".into()]));
    }
}

#[test]
fn a_location_is_one_and_says_https() {
    let get = hop(Method::GET, "");
    assert_eq!(next(&get, 302, &[]).err(), Some(RedirectFault::Location));
    assert_eq!(next(&get, 302, &["/a", "/b"]).err(), Some(RedirectFault::Location));
    for clear in ["http://a.example/", "HTTP://b.example/", "http:/x"] {
        assert_eq!(next(&get, 302, &[clear]).err(), Some(RedirectFault::Downgrade), "{clear}");
    }
    for refused in ["https://10.0.0.1/", "file:///etc/passwd", "https:x", "//127.0.0.1/", "/\\x"] {
        let fault = next(&get, 302, &[refused]).err();
        assert!(matches!(fault, Some(RedirectFault::Target(_))), "{refused}: {fault:?}");
    }
}

impl std::fmt::Debug for Hop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hop").field("method", &self.method).finish_non_exhaustive()
    }
}

impl PartialEq for Hop {
    fn eq(&self, other: &Self) -> bool {
        (&self.method, &self.headers, &self.body) == (&other.method, &other.headers, &other.body)
    }
}
