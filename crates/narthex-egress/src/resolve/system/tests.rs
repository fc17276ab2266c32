//! Against a name server on this machine that says what it is told.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::proto::op::{Message, Query, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};

use super::SystemResolver;
use crate::resolve::{Answer, Resolve as _, ResolveError};

fn name(text: &str) -> Name {
    Name::from_ascii(text).expect("a name")
}

fn said(query: &Query) -> Result<Vec<Record>, ResponseCode> {
    let asked = query.name().to_ascii().to_ascii_lowercase();
    let record = |owner: &str, data| Record::from_rdata(name(owner), 0, data);
    let v4 = |owner: &str| record(owner, RData::A(A(Ipv4Addr::new(10, 0, 0, 1))));
    let v6 = |owner: &str| record(owner, RData::AAAA(AAAA(Ipv6Addr::LOCALHOST)));
    match (asked.as_str(), query.query_type()) {
        ("both.example.", RecordType::A) => Ok(vec![v4("both.example.")]),
        ("both.example.", RecordType::AAAA) => Ok(vec![v6("both.example.")]),
        ("alias.example.", RecordType::A) => {
            let cname = RData::CNAME(CNAME(name("metadata.google.internal.")));
            Ok(vec![record("alias.example.", cname), v4("metadata.google.internal.")])
        }
        ("broken.example.", _) => Err(ResponseCode::ServFail),
        ("refused.example.", _) => Err(ResponseCode::Refused),
        ("gone.example.", _) => Err(ResponseCode::NXDomain),
        // What a search domain would make of a name: it must not be asked for.
        (_, RecordType::A) if asked.ends_with("search.example.") => Ok(vec![v4(&asked)]),
        _ => Ok(Vec::new()),
    }
}

/// A resolver configured with a search domain and many dots, and the names its server was asked.
fn resolver() -> (SystemResolver, Arc<Mutex<Vec<String>>>) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let port = socket.local_addr().expect("an address").port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut packet = [0; 4096];
        while let Ok((length, from)) = socket.recv_from(&mut packet) {
            let mut message = Message::from_vec(&packet[..length]).expect("a question");
            let query = message.queries.first().cloned().expect("one");
            notes.lock().expect("a lock").push(query.name().to_ascii().to_ascii_lowercase());
            message = message.into_response();
            match said(&query) {
                Ok(records) => drop(message.add_answers(records)),
                Err(code) => message.metadata.response_code = code,
            }
            let _ = socket.send_to(&message.to_vec().expect("a packet"), from);
        }
    });
    let mut server = NameServerConfig::udp(Ipv4Addr::LOCALHOST.into());
    server.connections.iter_mut().for_each(|connection| connection.port = port);
    let search = vec![name("search.example.")];
    let system = ResolverConfig::from_parts(Some(name("search.example.")), search, vec![server]);
    let mut options = ResolverOpts::default();
    (options.ndots, options.attempts, options.timeout) = (15, 1, Duration::from_secs(2));
    (SystemResolver::asking(system, options).expect("a resolver"), asked)
}

#[tokio::test]
async fn all_addresses_of_both_families_are_told() {
    let (resolver, _) = resolver();
    let mut answer = resolver.resolve("both.example").await.expect("an answer");
    answer.addresses.sort();
    let both: [IpAddr; 2] = [Ipv4Addr::new(10, 0, 0, 1).into(), Ipv6Addr::LOCALHOST.into()];
    assert_eq!(answer, Answer::from_addresses(both));
}

#[tokio::test]
async fn an_alias_is_told() {
    let (resolver, _) = resolver();
    let answer = resolver.resolve("alias.example").await.expect("an answer");
    assert_eq!(answer.aliases, ["metadata.google.internal."]);
    assert_eq!(answer.addresses.len(), 1);
}

#[tokio::test]
async fn no_search_domain_is_added() {
    let (resolver, asked) = resolver();
    for host in ["nobody.example", "a.b.c.example", "router"] {
        assert_eq!(resolver.resolve(host).await, Err(ResolveError::NoAnswer), "{host}");
    }
    let asked = asked.lock().expect("a lock");
    assert!(!asked.is_empty() && !asked.iter().any(|name| name.contains("search")), "{asked:?}");
}

#[tokio::test]
async fn every_failure_is_one() {
    let (resolver, _) = resolver();
    assert_eq!(resolver.resolve("gone.example").await, Err(ResolveError::NoAnswer));
    for host in ["broken.example", "refused.example"] {
        let found = resolver.resolve(host).await;
        assert!(matches!(found, Err(ResolveError::Failed(_))), "{host}: {found:?}");
    }
}
