//! G15: too much, too slow, packed.

use std::io::Write;
use std::time::{Duration, Instant};

use narthex_egress::{EgressError, Fetched, Request};

use crate::support::{Names, Server, answer, client, reaching};

async fn fetch(server: &Server) -> Result<Fetched, EgressError> {
    let names = Names::of(&[("public.example", &["127.0.0.1"])]);
    let mut config = reaching(&[("public.example", server)]);
    config.deadline = Duration::from_secs(3);
    client(config, &names).fetch(Request::get(server.url("public.example", "/"))).await
}

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/// A chunk of 64 KiB, until nobody listens.
fn endless(stream: &mut dyn Write) {
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    while stream.write_all(chunk.as_bytes()).is_ok() {}
}

#[tokio::test]
async fn g15_a_body_ends_at_its_cap() {
    let just = Server::saying(answer(&"a".repeat(1 << 20)));
    assert_eq!(fetch(&just).await.expect("as much as allowed").body.len(), 1 << 20);
    let more = Server::saying(answer(&"a".repeat((1 << 20) + 1)));
    let said = Server::saying("HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n");
    let unsaid = Server::new(|_, stream| {
        let _ = stream.write_all(CHUNKED);
        endless(stream);
    });
    let until_closed = Server::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        endless(stream);
    });
    for server in [more, said, unsaid, until_closed] {
        let error = fetch(&server).await.expect_err("too much");
        assert!(matches!(error, EgressError::ResponseBytes { cap: 0x10_0000, .. }), "{error}");
    }
}

#[tokio::test]
async fn g15_who_drips_is_left() {
    let drip = |_: &str, stream: &mut dyn Write| {
        let _ = stream.write_all(CHUNKED);
        while stream.write_all(b"1\r\na\r\n").and_then(|()| stream.flush()).is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let mute = |_: &str, _: &mut dyn Write| std::thread::sleep(Duration::from_secs(8));
    let interim = |_: &str, stream: &mut dyn Write| {
        while stream.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    for server in [Server::new(drip), Server::new(mute), Server::new(interim)] {
        let begun = Instant::now();
        let error = fetch(&server).await.expect_err("too slow");
        assert_eq!(error, EgressError::Deadline(Duration::from_secs(3)));
        assert!(!error.is_refusal(), "another try may do better");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn g15_what_is_packed_is_not_opened() {
    for header in [
        "content-encoding: gzip",
        "content-encoding: br",
        "content-encoding: gzip, gzip",
        "content-encoding: identity\r\ncontent-encoding: zstd",
        "transfer-encoding: gzip, chunked",
    ] {
        let server = Server::saying(format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n"));
        let error = fetch(&server).await.expect_err(header);
        assert!(matches!(error, EgressError::Encoded { .. }), "{header}: {error}");
    }
    let plain = "HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-length: 2\r\n\r\nok";
    assert_eq!(fetch(&Server::saying(plain)).await.expect("plain").body, "ok");
}

#[tokio::test]
async fn headers_end_at_their_cap() {
    let long = format!("x-long: {}", "a".repeat(40 << 10));
    let many: Vec<_> = (0..90).map(|n| format!("x-{n}: {}", "a".repeat(400))).collect();
    for headers in [long.as_str(), &many.join("\r\n")] {
        let server = Server::saying(format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n"));
        let error = fetch(&server).await.expect_err("too long");
        assert!(matches!(error, EgressError::HeaderBytes { .. }), "{error}");
    }
    let endless = Server::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(&[b'a'; 1024]).is_ok() {}
    });
    let error = fetch(&endless).await.expect_err("too long");
    assert!(matches!(error, EgressError::Unreachable { .. }), "{error}");
}
