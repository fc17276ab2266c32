//! A scripted authorization server, with a small MCP server at the same origin, for tests.
//!
//! It does as the RFCs say until a test bends an answer or replaces one.

mod speech;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

pub use speech::{Came, Said};

/// The server, until it is dropped.
#[derive(Debug)]
pub struct Authority {
    /// Scheme, host and port.
    pub origin: String,
    desk: Arc<Mutex<Desk>>,
    _serving: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Desk {
    origin: String,
    came: Vec<Came>,
    given: u64,
    lasts: u64,
    slow: Duration,
    rotates: bool,
    access: BTreeSet<String>,
    refresh: BTreeSet<String>,
    /// A code, with its challenge and the way back it is for.
    codes: BTreeMap<String, (String, String)>,
    bent: BTreeMap<String, Map<String, Value>>,
    replaced: BTreeMap<String, Said>,
}

impl Authority {
    /// Starts one on a port of its own. Its tokens last an hour, and its refresh tokens one use.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let desk = Desk { origin: origin.clone(), lasts: 3600, rotates: true, ..Desk::default() };
        let desk = Arc::new(Mutex::new(desk));
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, Arc::clone(&desk)));
        Ok(Self { origin, desk, _serving: serving })
    }

    /// The MCP server.
    pub fn server(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Merges this into the answers at a path; null takes a key out.
    pub fn bend(&self, path: &str, with: Value) {
        if let Value::Object(with) = with {
            self.desk().bent.entry(path.to_owned()).or_default().extend(with);
        }
    }

    /// Answers so at a path, whatever is asked.
    pub fn replace(&self, path: &str, said: Said) {
        self.desk().replaced.insert(path.to_owned(), said);
    }

    /// Does as it should again.
    pub fn restore(&self, path: &str) {
        let mut desk = self.desk();
        desk.replaced.remove(path);
        desk.bent.remove(path);
    }

    /// How many seconds tokens last from now on.
    pub fn lasting(&self, seconds: u64) {
        self.desk().lasts = seconds;
    }

    /// How long it thinks before it gives a token.
    pub fn slow(&self, by: Duration) {
        self.desk().slow = by;
    }

    /// Takes every access token back.
    pub fn revoke_access(&self) {
        self.desk().access.clear();
    }

    /// Takes every refresh token back.
    pub fn revoke_refresh(&self) {
        self.desk().refresh.clear();
    }

    /// Everything that came to a path, or under it if that ends in a slash.
    pub fn came(&self, path: &str) -> Vec<Came> {
        let fits = |came: &&Came| {
            came.path == path || (path.ends_with('/') && came.path.starts_with(path))
        };
        self.desk().came.iter().filter(fits).cloned().collect()
    }

    /// Says yes in place of the owner, and tells where the browser is sent back to.
    pub fn say_yes(&self, url: &str) -> Option<Url> {
        let url = Url::parse(url).ok()?;
        let asked: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let mut back = Url::parse(asked.get("redirect_uri")?).ok()?;
        let mut desk = self.desk();
        desk.given += 1;
        let code = format!("s3cret-code-{}", desk.given);
        let promised = (asked.get("code_challenge")?.clone(), asked.get("redirect_uri")?.clone());
        desk.codes.insert(code.clone(), promised);
        back.query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", asked.get("state")?)
            .append_pair("iss", &desk.origin);
        Some(back)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        held(&self.desk)
    }
}

async fn accept(listener: TcpListener, desk: Arc<Mutex<Desk>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(stream, Arc::clone(&desk)));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, desk: Arc<Mutex<Desk>>) {
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from);
    while let Some(came) = Came::read(&mut from).await {
        let slow = {
            let mut desk = held(&desk);
            desk.came.push(came.clone());
            desk.slow
        };
        if came.path == "/token" && !slow.is_zero() {
            tokio::time::sleep(slow).await;
        }
        let said = held(&desk).answer(&came);
        if said.write(&mut to).await.is_err() {
            return;
        }
    }
}

impl Desk {
    fn answer(&mut self, came: &Came) -> Said {
        if let Some(said) = self.replaced.get(&came.path) {
            return said.clone();
        }
        let mut said = match (came.method.as_str(), came.path.as_str()) {
            (_, "/mcp") => self.mcp(came),
            ("GET", "/.well-known/oauth-protected-resource/mcp") => Said::json(&json!({
                "resource": format!("{}/mcp", self.origin), "authorization_servers": [self.origin],
            })),
            ("GET", "/.well-known/oauth-authorization-server") => self.metadata(),
            ("POST", "/token") => self.token(&came.form()),
            ("POST", "/register") => Said::json(&json!({"client_id": "registered"})).status(201),
            _ => Said::new(404),
        };
        if let (Some(bent), Ok(Value::Object(mut body))) =
            (self.bent.get(&came.path), serde_json::from_slice(&said.body))
        {
            body.extend(bent.clone());
            let body: Map<String, Value> = body.into_iter().filter(|(_, v)| !v.is_null()).collect();
            said.body = Value::Object(body).to_string().into_bytes();
        }
        said
    }

    fn metadata(&self) -> Said {
        let at = |path: &str| format!("{}{path}", self.origin);
        Said::json(&json!({
            "issuer": self.origin, "token_endpoint": at("/token"),
            "authorization_endpoint": at("/authorize"), "registration_endpoint": at("/register"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "authorization_response_iss_parameter_supported": true,
        }))
    }

    fn token(&mut self, form: &BTreeMap<String, String>) -> Said {
        let said = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        let may = match said("grant_type") {
            "client_credentials" => true,
            "authorization_code" => {
                let digest = Sha256::digest(said("code_verifier").as_bytes());
                let proven = BASE64_URL_SAFE_NO_PAD.encode(digest);
                let promised = self.codes.remove(said("code"));
                promised == Some((proven, said("redirect_uri").to_owned()))
            }
            "refresh_token" if self.rotates => self.refresh.remove(said("refresh_token")),
            "refresh_token" => self.refresh.contains(said("refresh_token")),
            _ => false,
        };
        if !may {
            return Said::json(&json!({"error": "invalid_grant"})).status(400);
        }
        self.given += 1;
        let access = format!("s3cret-access-{}", self.given);
        self.access.insert(access.clone());
        let mut answer =
            json!({"access_token": access, "token_type": "Bearer", "expires_in": self.lasts});
        if let (Some(answer), true) =
            (answer.as_object_mut(), said("grant_type") != "client_credentials")
        {
            let refresh = format!("s3cret-refresh-{}", self.given);
            self.refresh.insert(refresh.clone());
            answer.insert("refresh_token".to_owned(), refresh.into());
        }
        Said::json(&answer)
    }

    fn mcp(&self, came: &Came) -> Said {
        let bearer = came.header("authorization").and_then(|said| said.strip_prefix("Bearer "));
        if !bearer.is_some_and(|token| self.access.contains(token)) {
            let at = format!("{}/.well-known/oauth-protected-resource/mcp", self.origin);
            let challenge = format!("Bearer resource_metadata=\"{at}\"");
            return Said::new(401).header("www-authenticate", &challenge);
        }
        let asked: Value = serde_json::from_slice(&came.body).unwrap_or_default();
        let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
        let mut result = match asked.get("method").and_then(Value::as_str) {
            Some("server/discover") => json!({
                "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "echo", "version": "1"}},
            }),
            Some("tools/list") => json!({"tools": [tool]}),
            Some("tools/call") => json!({"content": [{"type": "text", "text": "hello"}]}),
            _ => return Said::new(404),
        };
        if let Some(result) = result.as_object_mut() {
            let more = [("resultType", json!("complete")), ("ttlMs", json!(5))];
            result.extend(more.map(|(key, value)| (key.to_owned(), value)));
            result.insert("cacheScope".to_owned(), "private".into());
        }
        Said::json(&json!({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}))
    }
}

fn held(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}
