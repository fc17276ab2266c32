//! What is started, and the digest an approval of it is for.
//!
//! Arguments and URL count as they are written: a variable's value is the owner's environment, and
//! may be a secret. Where a value decides which code runs (the file a script's argument names, the
//! host of a URL, `LD_PRELOAD`), it counts too.

use std::fmt;

use narthex_core::Digest;
use serde::{Deserialize, Serialize};

use crate::config::{Auth, OAuthGrant, Reach, Resolved, ServerConfig, Walls};

use super::diff::diff_texts;
use super::program::Found;

/// What is started. `Debug` does not show it: in a careless file an argument is a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The server's name.
    pub name: String,
    /// How it is reached.
    pub reach: StartReach,
}

/// How it is reached.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartReach {
    /// A process.
    Process {
        /// The command, as it is written.
        command: String,
        /// What that is.
        found: Box<Found>,
        /// What it is given, as it is written.
        args: Vec<String>,
        /// Where it is started.
        cwd: Option<String>,
        /// The names of its variables.
        env: Vec<String>,
        /// The values, as they are written, of those that decide which code runs.
        code_env: Vec<(String, String)>,
        /// The walls around it.
        walls: String,
    },
    /// A server at a URL.
    Http {
        /// Where, as it is written.
        url: String,
        /// Scheme, host and port, with everything in place.
        origin: String,
        /// The names of what is sent along.
        headers: Vec<String>,
        /// How we prove who we are.
        auth: String,
    },
}

/// The parts do not belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a process needs the program that was found, and a server at a URL has none")]
pub struct Mismatched;

impl Start {
    /// Of a server with everything in place; a process with the program that was found.
    pub fn of(
        server: &ServerConfig,
        resolved: &Resolved,
        found: Option<Found>,
    ) -> Result<Self, Mismatched> {
        let reach = match (&server.reach, resolved, found) {
            (Reach::Process(process), Resolved::Process { .. }, Some(found)) => {
                let mut env: Vec<String> =
                    process.env.iter().map(|(name, _)| name.clone()).collect();
                env.sort();
                let decides = process.env.iter().filter(|(name, _)| decides_code(name));
                StartReach::Process {
                    command: process.command.clone(),
                    found: Box::new(found),
                    args: process.args.iter().map(|arg| arg.as_written().to_owned()).collect(),
                    cwd: process.cwd.as_ref().map(|cwd| cwd.display().to_string()),
                    env,
                    code_env: decides
                        .map(|(name, value)| (name.clone(), value.as_written().to_owned()))
                        .collect(),
                    walls: walls(&server.walls),
                }
            }
            (Reach::Http(http), Resolved::Http { origin, .. }, None) => {
                let name = |(name, _): &(String, _)| name.to_ascii_lowercase();
                let mut headers: Vec<String> = http.headers.iter().map(name).collect();
                headers.sort();
                StartReach::Http {
                    url: http.url.as_written().to_owned(),
                    origin: origin.clone(),
                    headers,
                    auth: auth(http.auth.as_ref()),
                }
            }
            _ => return Err(Mismatched),
        };
        Ok(Self { name: server.name.to_string(), reach })
    }

    /// What an approval is for.
    pub fn digest(&self) -> Digest {
        Digest::of(format!("narthex start v1\n{}", self.text()).as_bytes())
    }

    /// What is different from what was approved, for people.
    pub fn diff(&self, approved: &Self) -> String {
        diff_texts(&approved.text(), &self.text())
    }

    /// All of it in one form.
    fn text(&self) -> String {
        // Only text in it: it can always be written.
        narthex_core::canonical(self).unwrap_or_default()
    }
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Start({} {})", self.name, self.digest())
    }
}

impl fmt::Debug for StartReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Process { .. } => "StartReach::Process",
            Self::Http { .. } => "StartReach::Http",
        })
    }
}

fn walls(walls: &Walls) -> String {
    let list = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    let said = serde_json::json!({
        "preset": walls.preset.as_str(),
        "read": list(&walls.read),
        "write": list(&walls.write),
        "network": walls.network,
    });
    said.to_string()
}

fn auth(auth: Option<&Auth>) -> String {
    match auth {
        None => "none".to_owned(),
        Some(Auth::Bearer(_)) => "bearer".to_owned(),
        Some(Auth::OAuth(oauth)) => {
            let grant = match oauth.grant {
                OAuthGrant::ClientCredentials => "client_credentials",
                OAuthGrant::AuthorizationCode => "authorization_code",
            };
            let issuer = oauth.issuer.as_deref().unwrap_or("any issuer");
            format!("oauth {grant} {issuer} {}", oauth.scopes.join(" "))
        }
    }
}

/// Whether a variable decides which code runs in a process.
fn decides_code(name: &str) -> bool {
    let starts = ["LD_", "DYLD_", "npm_config_", "NPM_CONFIG_", "UV_", "PIP_"];
    CODE_VARIABLES.contains(&name) || starts.iter().any(|start| name.starts_with(start))
}

const CODE_VARIABLES: &[&str] = &[
    "PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "RUBYOPT",
    "RUBYLIB",
    "PERL5OPT",
    "PERL5LIB",
    "JAVA_TOOL_OPTIONS",
    "CLASSPATH",
    "BASH_ENV",
    "ENV",
    "SHELL",
    "HOME",
    "DOCKER_HOST",
];

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use narthex_core::Digest;
    use secrecy::SecretString;

    use super::super::program::{Found, PinnedFile};
    use super::Start;
    use crate::config::{self, Lookup, ServerConfig};

    struct Env(&'static str);

    impl Lookup for Env {
        fn variable(&self, _: &str) -> Option<SecretString> {
            Some(self.0.into())
        }
        fn file(&self, _: &str) -> Result<SecretString, String> {
            Err(String::new())
        }
    }

    fn server(name: &str, inner: &str) -> ServerConfig {
        let text = format!("{{\"mcpServers\":{{\"{name}\":{{{inner}}}}}}}");
        config::read(&text, 20).unwrap().servers.pop_first().unwrap().1
    }

    fn file(path: &str, bytes: &str) -> PinnedFile {
        let path = PathBuf::from(path);
        PinnedFile { real: path.clone(), path, sha256: Digest::of(bytes.as_bytes()) }
    }

    fn found(path: &str, bytes: &str) -> Found {
        Found { program: file(path, bytes), interpreter: None, scripts: Vec::new() }
    }

    fn process(name: &str, inner: &str, found: Found) -> Digest {
        let server = server(name, inner);
        let resolved = server.resolve(&Env("x")).unwrap();
        Start::of(&server, &resolved, Some(found)).unwrap().digest()
    }

    const BASE: &str = r#""command":"srv","args":["-y","${A}"],"cwd":"/w","env":{"A":"1","B":"2"}"#;

    #[test]
    fn whatever_is_started_differently_is_another_start() {
        let base = process("a", BASE, found("/bin/srv", "1"));
        assert_eq!(base, process("a", BASE, found("/bin/srv", "1")));
        for (name, inner, found) in [
            ("b", BASE.to_owned(), found("/bin/srv", "1")),
            ("a", BASE.to_owned(), found("/usr/bin/srv", "1")),
            ("a", BASE.to_owned(), found("/bin/srv", "2")),
            ("a", BASE.replace("srv", "srw"), found("/bin/srv", "1")),
            ("a", BASE.replace("\"-y\"", "\"-n\""), found("/bin/srv", "1")),
            ("a", BASE.replace("\"-y\",", ""), found("/bin/srv", "1")),
            ("a", BASE.replace("\"-y\",\"${A}\"", "\"-y ${A}\""), found("/bin/srv", "1")),
            ("a", BASE.replace("/w", "/v"), found("/bin/srv", "1")),
            ("a", BASE.replace("\"B\"", "\"C\""), found("/bin/srv", "1")),
            ("a", BASE.replace(",\"B\":\"2\"", ""), found("/bin/srv", "1")),
            ("a", format!("{BASE},\"walls\":{{\"preset\":\"offline\"}}"), found("/bin/srv", "1")),
        ] {
            assert_ne!(process(name, &inner, found), base, "{name} {inner}");
        }
        let mut with_script = found("/bin/srv", "1");
        with_script.scripts.push(file("/w/index.js", "1"));
        assert_ne!(process("a", BASE, with_script), base);
    }

    #[test]
    fn values_of_variables_do_not_count_unless_they_decide_which_code_runs() {
        let base = process("a", BASE, found("/bin/srv", "1"));
        let other = BASE.replace("\"A\":\"1\"", "\"A\":\"9\"");
        assert_eq!(process("a", &other, found("/bin/srv", "1")), base);
        let preload = |value: &str| {
            let inner = format!("\"command\":\"srv\",\"env\":{{\"LD_PRELOAD\":\"{value}\"}}");
            process("a", &inner, found("/bin/srv", "1"))
        };
        assert_ne!(preload("/a.so"), preload("/b.so"));
    }

    #[test]
    fn a_url_counts_with_its_host_and_never_with_its_secret() {
        let http = |inner: &str, host: &'static str| {
            let server = server("a", inner);
            let resolved = server.resolve(&Env(host)).unwrap();
            let start = Start::of(&server, &resolved, None).unwrap();
            assert!(!serde_json::to_string(&start).unwrap().contains("s3cr3t"));
            start.digest()
        };
        let by_host = r#""url":"https://${H}/mcp""#;
        assert_ne!(http(by_host, "one.example"), http(by_host, "two.example"));
        let by_token = r#""url":"https://x.example/mcp?k=${K}","headers":{"X-A":"${K}"}"#;
        assert_eq!(http(by_token, "s3cr3t"), http(by_token, "other"));
        let base = http(by_token, "k");
        for (from, to) in [
            ("x.example", "y.example"),
            ("/mcp", "/mcq"),
            ("X-A", "X-B"),
            ("\"headers\":{\"X-A\":\"${K}\"}", "\"auth\":{\"bearer\":\"${K}\"}"),
        ] {
            assert_ne!(http(&by_token.replace(from, to), "k"), base, "{to}");
        }
    }

    #[test]
    fn what_changed_is_shown() {
        let one = server("a", BASE);
        let two = server("a", &BASE.replace("-y", "--evil"));
        let of = |server: &ServerConfig| {
            let resolved = server.resolve(&Env("x")).unwrap();
            Start::of(server, &resolved, Some(found("/bin/srv", "1"))).unwrap()
        };
        let diff = of(&two).diff(&of(&one));
        assert!(diff.contains("-y") && diff.contains('+') && diff.contains("--evil"), "{diff}");
        assert!(!format!("{:?}", of(&two)).contains("evil"));
        assert!(Start::of(&one, &one.resolve(&Env("x")).unwrap(), None).is_err());
    }
}
