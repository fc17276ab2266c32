//! Hostile URLs against the spy, as text, as redirects and as answers of the name server.

use futures::stream::{self, StreamExt as _};
use narthex_egress::{EgressClient, EgressError, Request};

use crate::spellings::{Leads, urls};
use crate::support::{Names, Server, Spy, client, reaching, strict, with_loopback};
use crate::unfiltered;

/// Fetches all of them; each must be refused by the filter, not by luck.
async fn refused(client: &EgressClient, urls: &[String]) {
    for url in urls {
        match client.fetch(Request::get(url)).await {
            Err(error) if error.is_refusal() => {}
            other => panic!("{url:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn no_hostile_url_reaches_the_spy() {
    let spy = Spy::new();
    let all: Vec<String> = urls(spy.port).into_iter().map(|(url, _)| url).collect();
    assert!(all.len() >= 500, "{}", all.len());
    refused(&strict(&Names::none()), &all).await;
    assert_eq!(spy.hits("127.0.0.1"), 0);
}

#[tokio::test]
async fn a_decision_for_this_machine_opens_nothing_else() {
    let spy = Spy::new();
    let hostile = urls(spy.port).into_iter().filter(|(_, leads)| *leads != Leads::Here);
    let all: Vec<String> = hostile.map(|(url, _)| url).collect();
    assert!(all.len() >= 400, "{}", all.len());
    refused(&with_loopback(&Names::none()), &all).await;
    assert_eq!(spy.hits("127.0.0.1"), 0);
}

/// The control: the same spy, the same URLs, and the rule off.
#[tokio::test]
async fn with_the_rule_off_the_spy_is_reached() {
    let spy = Spy::new();
    let client = with_loopback(&Names::none());
    for host in ["127.0.0.1", "127.0.0.2", "localhost"] {
        let fetched = client.fetch(Request::get(format!("http://{host}:{}/", spy.port))).await;
        assert_eq!(fetched.expect("reached").body, "spy");
    }
    assert_eq!(spy.hits("127.0.0.1"), 3);
}

/// The control of the list: a client without a filter is led to the spy.
#[tokio::test]
async fn without_the_filter_the_urls_lead_to_the_spy() {
    let spy = Spy::new();
    let mut leading: Vec<_> =
        urls(spy.port).into_iter().filter(|(_, leads)| *leads != Leads::Elsewhere).collect();
    leading.retain(|(url, _)| url.contains(&spy.port.to_string()));
    let names = Names::of(&[("localhost", &["127.0.0.1"]), ("LOCALHOST", &["127.0.0.1"])]);
    let bare = unfiltered::client(&names);
    let tries = leading.iter().map(|(url, _)| unfiltered::tries(&bare, url));
    let reached = stream::iter(tries).buffer_unordered(16).filter(|hit| std::future::ready(*hit));
    let reached = reached.count().await;
    // All of them where there is IPv6.
    assert!(reached * 10 >= leading.len() * 8, "{reached} of {}", leading.len());
    assert!(spy.hits("127.0.0.1") >= reached, "each of them is a connection");
}

#[tokio::test]
async fn g07_no_answer_of_a_name_server_leads_to_the_spy() {
    let spy = Spy::new();
    let mut names = Names::default();
    let mut all = Vec::new();
    for (n, address) in ADDRESSES.iter().enumerate() {
        for (kind, answer) in [
            ("alone", &[*address][..]),
            ("first", &[*address, "8.8.8.8"]),
            ("last", &["8.8.8.8", "2606:4700::1111", *address]),
        ] {
            let name = format!("{kind}{n}.public.example");
            names = names.then(&name, answer, &["cdn.public.example"]);
            all.push(format!("https://{name}:{}/jwks.json", spy.port));
        }
    }
    for (n, alias) in ["metadata.google.internal.", "localhost", "nas.local"].iter().enumerate() {
        let name = format!("alias{n}.public.example");
        names = names.then(&name, &["8.8.8.8"], &[alias]);
        all.push(format!("https://{name}:{}/", spy.port));
    }
    let names = names.into();
    refused(&strict(&names), &all).await;
    refused(&with_loopback(&names), &all).await;
    assert_eq!(spy.hits("127.0.0.1"), 0);
    let bare = unfiltered::client(&names);
    unfiltered::tries(&bare, &format!("http://alone0.public.example:{}/", spy.port)).await;
    assert_eq!(spy.hits("127.0.0.1"), 1, "without the filter it is reached");
}

#[tokio::test]
async fn g04_no_redirect_leads_to_the_spy() {
    let spy = Spy::new();
    // What has no scheme is a path here; what breaks a line is not a header.
    let is_location = |url: &String| {
        url.contains(':')
            && !url.starts_with(['1', '/', ' '])
            && !url.contains(['\n', '\r', '\0', '\u{1}'])
    };
    let all: Vec<String> =
        urls(spy.port).into_iter().map(|(url, _)| url).filter(is_location).collect();
    assert!(all.len() >= 450, "{}", all.len());
    let places = all.clone();
    let server = Server::new(move |head, stream| {
        let number = head.split(['/', ' ']).find_map(|part| part.parse::<usize>().ok());
        let place = number.and_then(|number| places.get(number)).expect("a place");
        let answer = crate::support::redirect(302, place);
        let _ = stream.write_all(answer.as_bytes());
    });
    let names = Names::of(&[("public.example", &["127.0.0.1"])]);
    let client = client(reaching(&[("public.example", &server)]), &names);
    for (number, place) in all.iter().enumerate() {
        let url = server.url("public.example", &format!("/{number}"));
        match client.fetch(Request::get(url)).await {
            Err(error @ EgressError::Redirect { .. }) if error.is_refusal() => {}
            other => panic!("{place:?}: {other:?}"),
        }
    }
    assert_eq!(server.heads().len(), all.len(), "each redirect was received");
    assert_eq!(spy.hits("127.0.0.1"), 0);
}

/// Addresses that a name server may not give.
const ADDRESSES: &[&str] = &[
    "127.0.0.1",
    "127.9.9.9",
    "::1",
    "0.0.0.0",
    "::",
    "::ffff:127.0.0.1",
    "10.0.0.1",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.1.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "100.64.0.1",
    "192.0.2.1",
    "198.19.0.1",
    "198.51.100.1",
    "203.0.113.9",
    "192.88.99.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.175.48.1",
    "224.0.0.251",
    "240.0.0.1",
    "255.255.255.255",
    "fd00:ec2::254",
    "fd00::1",
    "fe80::1",
    "fec0::1",
    "ff02::fb",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "2002:a00:1::",
    "2001:0:808:808::f5ff:fffe",
    "2001:20::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "100::1",
    "::10.0.0.1",
    "::ffff:0:10.0.0.1",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:169.254.169.254",
    "4000::1",
];
