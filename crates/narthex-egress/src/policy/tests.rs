use std::net::IpAddr;

use super::{EgressPolicy, Zone, is_internal};
use crate::config::{EgressConfig, LoopbackHttp, PolicyError};
use crate::error::EgressError;
use crate::resolve::{Answer, ResolveError};

fn policy(allow: &[&str], loopback_http: LoopbackHttp) -> EgressPolicy {
    let allow = allow.iter().map(|entry| (*entry).to_owned()).collect();
    let config = EgressConfig { allow, loopback_http, ..EgressConfig::default() };
    EgressPolicy::new(config).expect("a policy")
}

fn answer(addresses: &[&str]) -> Answer {
    Answer::from_addresses(addresses.iter().map(|a| a.parse::<IpAddr>().expect("an address")))
}

fn admit(policy: &EgressPolicy, url: &str, answer: &Answer) -> Result<Zone, EgressError> {
    let target = policy.judge_url(url)?;
    policy.admit(target, answer).map(|admitted| admitted.zone())
}

/// The rule, cell by cell: what the list says against what the name server says.
#[test]
fn what_is_listed_decides_which_addresses_are_accepted() {
    let listed = ["keys.corp", "meta.corp", "169.254.169.254", "127.0.0.1"];
    for (allow, host, address, accepted) in [
        (&[][..], "keys.example", "8.8.8.8", true),
        (&[], "keys.example", "10.0.0.1", false),
        (&[], "keys.example", "127.0.0.1", false),
        (&[], "keys.example", "168.63.129.16", false),
        (&listed, "keys.example", "10.0.0.1", false),
        (&listed, "keys.example", "127.0.0.1", false),
        (&listed, "keys.corp", "8.8.8.8", true),
        (&listed, "keys.corp", "10.0.0.1", true),
        (&listed, "keys.corp", "100.64.0.1", true),
        (&listed, "keys.corp", "fd12::1", true),
        (&listed, "keys.corp", "100.100.100.200", false),
        (&listed, "keys.corp", "fd00:ec2::254", false),
        (&listed, "keys.corp", "168.63.129.16", false),
        (&listed, "keys.corp", "127.0.0.2", false),
        (&listed, "keys.corp", "::1", false),
        (&listed, "keys.corp", "169.254.0.1", false),
        (&listed, "keys.corp", "224.0.0.1", false),
        (&listed, "keys.corp", "::ffff:10.0.0.1", false),
        (&listed, "meta.corp", "169.254.169.254", true),
    ] {
        let policy = policy(allow, LoopbackHttp::Refused);
        let found = admit(&policy, &format!("https://{host}/"), &answer(&[address]));
        assert_eq!(found.is_ok(), accepted, "{host} at {address}: {found:?}");
        let other_port = admit(&policy, &format!("https://{host}:444/"), &answer(&[address]));
        assert_eq!(other_port.is_ok(), address == "8.8.8.8" && !host.ends_with("corp"));
    }
}

#[test]
fn this_machine_is_reached_by_its_own_names_after_a_decision() {
    let (no, yes) = (policy(&[], LoopbackHttp::Refused), policy(&[], LoopbackHttp::Allowed));
    for url in
        ["http://localhost:9/", "http://127.0.0.1:9/", "http://[::1]:9/", "https://127.8.8.8/"]
    {
        assert!(no.judge_url(url).is_err(), "{url}");
        assert!(yes.judge_url(url).is_ok(), "{url}");
    }
    for url in ["http://example.com/", "http://10.0.0.1/", "http://a.localhost/", "http://0.0.0.0/"]
    {
        assert!(yes.judge_url(url).is_err(), "{url}");
    }
    assert!(admit(&yes, "https://mine.example/", &answer(&["127.0.0.1"])).is_err());
}

#[test]
fn one_bad_address_or_alias_refuses_the_name() {
    let policy = policy(&[], LoopbackHttp::Refused);
    let url = "https://keys.example/";
    assert_eq!(admit(&policy, url, &answer(&["8.8.8.8", "1.1.1.1"])), Ok(Zone::Outside));
    assert!(admit(&policy, url, &answer(&["8.8.8.8", "10.0.0.1"])).is_err());
    for alias in ["metadata.google.internal", "LOCALHOST.", "printer.local."] {
        let answer = Answer { aliases: vec![alias.to_owned()], ..answer(&["8.8.8.8"]) };
        assert!(matches!(admit(&policy, url, &answer), Err(EgressError::Name { .. })), "{alias}");
    }
}

#[test]
fn an_answer_is_bounded_and_none_is_a_refusal() {
    let policy = policy(&[], LoopbackHttp::Refused);
    let many = Answer::from_addresses((1..=33).map(|n| IpAddr::from([8, 8, 8, n])));
    let detour = Answer { aliases: vec!["a.example".into(); 9], ..answer(&["8.8.8.8"]) };
    for (answer, why) in [
        (Answer::default(), ResolveError::NoAnswer),
        (many, ResolveError::TooMany),
        (detour, ResolveError::TooMany),
    ] {
        let host = "keys.example".to_owned();
        let expected = Err(EgressError::Unresolved { host, why });
        assert_eq!(admit(&policy, "https://keys.example/", &answer), expected);
    }
}

#[test]
fn a_refusal_says_what_to_add() {
    let policy = policy(&[], LoopbackHttp::Refused);
    for (url, address, advice) in [
        ("https://a.example:8443/?t=s3cret", "10.0.0.1", "add `a.example:8443` to egress.allow"),
        ("https://a.example/", "169.254.169.254", "the address `169.254.169.254:443` are in"),
        ("https://a.example/", "::ffff:10.0.0.1", "it is never reached"),
    ] {
        let error = admit(&policy, url, &answer(&[address])).expect_err(url).to_string();
        assert!(error.contains(advice), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
    let error = policy.judge_url("https://127.0.0.1/").expect_err("refused").to_string();
    assert!(error.contains("only if `127.0.0.1:443` is in egress.allow"), "{error}");
}

#[test]
fn names_of_the_inside_are_known() {
    for name in ["localhost", "router", "a.local", "metadata.google.internal", "x.home.arpa"] {
        assert!(is_internal(name), "{name}");
    }
    for name in ["example.com", "local.example.com", "internal.example"] {
        assert!(!is_internal(name), "{name}");
    }
}

#[test]
fn a_policy_that_makes_no_sense_names_the_key() {
    let made = |change: fn(&mut EgressConfig)| {
        let mut config = EgressConfig::default();
        change(&mut config);
        EgressPolicy::new(config).expect_err("an error")
    };
    assert_eq!(made(|c| c.redirects = 11), PolicyError::Redirects);
    assert_eq!(made(|c| c.response_bytes = 0), PolicyError::Zero("response_bytes"));
    assert_eq!(made(|c| c.concurrent = 0), PolicyError::Zero("concurrent"));
    assert!(matches!(made(|c| c.extra_roots = Some(vec![1])), PolicyError::Roots(_)));
}
