//! A server on this machine that answers as it is told, over TLS.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::file;

type Answers = dyn Fn(&str, &mut dyn Write) + Send + Sync;

/// Answers each request by a function of its head, and keeps the requests.
pub(crate) struct Server {
    pub(crate) port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves until the process ends.
    pub(crate) fn new(answers: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, tls): (_, _) = (Arc::clone(&heads), Arc::new(tls()));
        let answers: Arc<Answers> = Arc::new(answers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, tls, answers) =
                    (Arc::clone(&seen), Arc::clone(&tls), Arc::clone(&answers));
                std::thread::spawn(move || serve(stream, tls, &seen, &*answers));
            }
        });
        Self { port, heads }
    }

    /// Everybody gets this.
    pub(crate) fn saying(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(move |_, stream| {
            let _ = stream.write_all(text.as_bytes());
        })
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A URL of it under a name.
    pub(crate) fn url(&self, name: &str, path: &str) -> String {
        format!("https://{name}:{}{path}", self.port)
    }

    /// The requests so far, with their bodies.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("a lock").clone()
    }
}

/// 200 with a body.
pub(crate) fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A redirect.
pub(crate) fn redirect(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
}

fn serve(stream: TcpStream, tls: Arc<ServerConfig>, seen: &Mutex<Vec<String>>, answers: &Answers) {
    let connection = ServerConnection::new(tls).expect("a connection");
    let mut stream = StreamOwned::new(connection, stream);
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(read) if read > 0 => head.extend_from_slice(&part[..read]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    seen.lock().expect("a lock").push(head.clone());
    answers(&head, &mut stream);
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

fn tls() -> ServerConfig {
    let certificate = CertificateDer::from_pem_file(file("cert.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a configuration")
}
