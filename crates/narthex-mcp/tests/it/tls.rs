//! TLS from PEM files, HTTP/1.1 only, and a handshake that has to come.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use narthex_mcp::{ProxyConfig, Tls, TlsError};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::house::{House, Open, TA};
use crate::proxy::bridge_with;
use crate::raw::{Request, answers, exchange, message};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificates").join(name)
}

async fn open() -> Open {
    let mut house = House::new().edge(|edge| edge.handshake_deadline = Duration::from_millis(300));
    house.tls = Some(Tls::from_pem_files(&file("cert.pem"), &file("key.pem")).expect("TLS"));
    house.open().await
}

fn connector(alpn: &[&[u8]]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_file(file("cert.pem")).expect("a certificate");
    roots.add(root).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

#[tokio::test]
async fn requests_are_served_over_tls_and_http_2_is_not_spoken() {
    let house = open().await;
    let params = json!({"name": "echo", "arguments": {"text": "hi"}});
    let request = Request::modern(TA, "tools/call", &params);
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TcpStream::connect(house.addr).await.expect("a connection");
    let stream = connector(&[b"h2", b"http/1.1"]).connect(name.clone(), stream).await;
    let stream = stream.expect("a handshake");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let all = answers(&exchange(stream, &request.bytes()).await);
    assert_eq!(all[0].result()["structuredContent"]["text"], "hi");
    let stream = TcpStream::connect(house.addr).await.expect("a connection");
    assert!(connector(&[b"h2"]).connect(name, stream).await.is_err());
}

#[tokio::test]
async fn without_a_handshake_nothing_is_served() {
    let house = open().await;
    let stream = TcpStream::connect(house.addr).await.expect("a connection");
    let plain = exchange(stream, &Request::legacy(TA, "ping", &json!({})).bytes()).await;
    assert!(answers(&plain).is_empty());
    let silent = TcpStream::connect(house.addr).await.expect("a connection");
    assert!(exchange(silent, b"").await.is_empty(), "closed without a word");
}

#[tokio::test]
async fn the_bridge_speaks_tls_to_a_server_it_trusts() {
    let house = open().await;
    let mut config = ProxyConfig::new(
        format!("https://localhost:{}/mcp", house.addr.port()),
        TA.to_owned().into(),
    );
    let (mut stranger, _running) = bridge_with(config.clone());
    let ask = message(1, "tools/list", &json!({}));
    assert_eq!(stranger.ask(&ask).await["error"]["data"]["code"], "unreachable");
    config.extra_roots = Some(std::fs::read(file("cert.pem")).expect("a certificate"));
    let (mut friend, _running) = bridge_with(config);
    assert!(friend.ask(&ask).await["result"]["tools"].is_array());
}

#[test]
fn what_is_no_certificate_is_named_and_not_shown() {
    let missing = Tls::from_pem_files(&file("nosuch.pem"), &file("key.pem"));
    assert!(matches!(missing, Err(TlsError::Certificate(_))));
    let swapped = Tls::from_pem_files(&file("key.pem"), &file("key.pem"));
    assert!(matches!(swapped, Err(TlsError::Certificate(_))));
    let keyless = Tls::from_pem_files(&file("cert.pem"), &file("cert.pem"));
    assert!(matches!(keyless, Err(TlsError::Key(_))));
}
