use super::{HostPolicy, HostPolicyError, HostRefusal};
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, Uri};
use std::net::IpAddr;

fn policy(bind: &str, hosts: &[&str], origins: &[&str]) -> Result<HostPolicy, HostPolicyError> {
    let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let bind: IpAddr = bind.parse().expect("an address");
    HostPolicy::from_bind(bind, &owned(hosts), &owned(origins))
}

fn ask(policy: &HostPolicy, target: &str, pairs: &[(&str, &str)]) -> Result<(), HostRefusal> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = if *name == "host" { HOST } else { ORIGIN };
        headers.append(name, HeaderValue::from_str(value).expect("a header"));
    }
    policy.check(&target.parse::<Uri>().expect("a target"), &headers)
}

#[test]
fn loopback_answers_to_its_own_names_and_no_other() {
    for bind in ["127.0.0.1", "::1", "127.0.0.2"] {
        let policy = policy(bind, &["Box.Lan", "other:8443"], &[]).expect("a policy");
        for (host, good) in [
            ("localhost", true),
            ("localhost:7431", true),
            ("LOCALHOST", true),
            ("127.0.0.1", true),
            ("127.0.0.1:80", true),
            ("[::1]", true),
            ("[::1]:9", true),
            ("box.lan:1", true),
            ("other:8443", true),
            ("other", false),
            ("other:8444", false),
            ("evil.example", false),
            ("localhost.", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("127.1", false),
            ("2130706433", false),
            ("0x7f000001", false),
            ("0x7f.1", false),
            ("::1", false),
            ("localhost:", false),
            ("localhost:80:80", false),
            ("localhost:+80", false),
            ("localhost:99999", false),
            ("user@localhost", false),
            ("localhost/x", false),
            (" localhost", false),
            ("*", false),
            ("", false),
        ] {
            assert_eq!(ask(&policy, "/mcp", &[("host", host)]).is_ok(), good, "{bind} {host:?}");
        }
        assert_eq!(ask(&policy, "/mcp", &[]), Err(HostRefusal::Host));
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(ask(&policy, "/mcp", &twice), Err(HostRefusal::Host));
    }
}

#[test]
fn an_absolute_target_must_name_the_same_host() {
    let policy = policy("127.0.0.1", &[], &[]).expect("a policy");
    let host = [("host", "localhost:80")];
    assert_eq!(ask(&policy, "http://localhost:80/mcp", &host), Ok(()));
    for target in ["http://evil.example/mcp", "http://127.0.0.1/mcp", "http://localhost/mcp"] {
        assert_eq!(ask(&policy, target, &host), Err(HostRefusal::Host), "{target}");
    }
}

#[test]
fn leaving_loopback_needs_names() {
    for bind in ["0.0.0.0", "::", "192.0.2.1"] {
        assert!(matches!(policy(bind, &[], &[]), Err(HostPolicyError::NeedsHosts(_))), "{bind}");
        let policy = policy(bind, &["door.example"], &[]).expect("a policy");
        assert_eq!(ask(&policy, "/", &[("host", "door.example")]), Ok(()));
        assert_eq!(ask(&policy, "/", &[("host", "localhost")]), Err(HostRefusal::Host));
        assert_eq!(ask(&policy, "/", &[("host", bind)]), Err(HostRefusal::Host));
    }
}

#[test]
fn an_origin_is_refused_unless_exactly_listed_on_every_bind() {
    let origins = ["https://app.ok.com", "http://localhost:7431"];
    for (bind, hosts) in [("127.0.0.1", &[][..]), ("0.0.0.0", &["localhost"][..])] {
        let policy = policy(bind, hosts, &origins).expect("a policy");
        for (origin, good) in [
            ("https://app.ok.com", true),
            ("https://app.ok.com:443", true),
            ("http://localhost:7431", true),
            ("http://localhost", false),
            ("http://localhost:7432", false),
            ("http://127.0.0.1:7431", false),
            ("https://evil.example", false),
            ("null", false),
            ("", false),
            ("https://app.ok.com.evil", false),
            ("http://app.ok.com", false),
            ("https://app.ok.com:8443", false),
            ("https://APP.ok.com.", false),
            ("https://APP.ok.com", false),
            ("https://app.ok.com.", false),
            ("https://app.ok.com/", false),
            ("https://app.ok.com@evil.example", false),
            ("https://evil.example#https://app.ok.com", false),
            ("HTTPS://app.ok.com", false),
            ("https://app.ok.com https://app.ok.com", false),
        ] {
            let got = ask(&policy, "/mcp", &[("host", "localhost"), ("origin", origin)]);
            assert_eq!(got.is_ok(), good, "{bind} {origin:?}");
        }
    }
    let closed = policy("127.0.0.1", &[], &[]).expect("a policy");
    let own = [("host", "localhost:7431"), ("origin", "http://localhost:7431")];
    assert_eq!(ask(&closed, "/mcp", &own), Err(HostRefusal::Origin));
}

#[test]
fn a_config_that_says_nothing_exact_is_refused() {
    for host in ["*", "", "*.example", "http://x", "a b", "x:y", "x/"] {
        assert!(matches!(policy("::1", &[host], &[]), Err(HostPolicyError::Host(_))), "{host:?}");
    }
    for origin in ["*", "null", "app.ok.com", "https://APP.ok.com", "https://a/b", "file://x"] {
        let made = policy("::1", &[], &[origin]);
        assert!(matches!(made, Err(HostPolicyError::Origin(_))), "{origin:?}");
    }
}
