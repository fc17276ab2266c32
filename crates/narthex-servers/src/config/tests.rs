//! The file, from its text to what a server is started with.

use std::collections::BTreeMap;
use std::time::Duration;

use narthex_core::{Reads, Sends, TakesIn, Tier};
use narthex_gate::upstream::UpstreamEra;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{
    Auth, ConfigError, Limits, Lookup, OAuthGrant, Preset, Reach, Resolved, ResolvedAuth,
    ServerConfig, ServersFile, USUAL_SERVERS, read,
};

fn file(text: &str) -> Result<ServersFile, ConfigError> {
    read(text, USUAL_SERVERS)
}

/// One server `s`, from what is between its braces.
fn server(inner: &str) -> Result<(ServerConfig, Vec<String>), ConfigError> {
    let mut file = file(&format!("{{\"mcpServers\":{{\"s\":{{{inner}}}}}}}"))?;
    let warnings = file.warnings.iter().map(ToString::to_string).collect();
    Ok((file.servers.pop_first().unwrap().1, warnings))
}

struct Env(BTreeMap<&'static str, &'static str>);

impl Lookup for Env {
    fn variable(&self, name: &str) -> Option<SecretString> {
        self.0.get(name).map(|value| (*value).into())
    }

    fn file(&self, path: &str) -> Result<SecretString, String> {
        self.0.get(path).map(|value| (*value).into()).ok_or_else(|| "no such file".into())
    }
}

fn env() -> Env {
    Env(BTreeMap::from([
        ("TOKEN", "s3cr3t-value"),
        ("EMPTY", ""),
        ("BROKEN", "a\r\nX-Evil: 1"),
        ("NUL", "a\0b"),
        ("HOST", "api.example"),
        ("/run/token", "from-a-file\n"),
    ]))
}

#[test]
fn the_files_people_have_are_taken() {
    for (text, servers, warnings) in [
        (r#"{"mcpServers":{}}"#, 0, 0),
        (r#"{"servers":{"a":{"type":"stdio","command":"a"}},"inputs":[]}"#, 1, 1),
        (
            r#"{"mcpServers":{"fetch":{"command":"uvx","args":["mcp-server-fetch"],"autoApprove":["fetch"],"disabled":false,"timeout":60}}}"#,
            1,
            2,
        ),
        (
            r#"{"mcpServers":{"a":{"type":"http","url":"https://x.example/mcp"},"b":{"type":"streamable-http","url":"https://x.example/mcp"},"c":{"url":"http://localhost:1/mcp"}}}"#,
            3,
            0,
        ),
        (
            r#"{"$schema":"x","version":1,"gallery":true,"mcpServers":{"a":{"command":"a","gallery":true,"version":"1","envFile":".env","alwaysAllow":["*"]}}}"#,
            1,
            7,
        ),
    ] {
        let file = file(text).unwrap();
        assert_eq!(file.servers.len(), servers, "{text}");
        assert_eq!(file.warnings.len(), warnings, "{text}: {:?}", file.warnings);
    }
}

#[test]
fn what_other_clients_approve_by_themselves_has_no_effect_and_says_so() {
    for key in ["autoApprove", "alwaysAllow", "trust"] {
        let (server, warnings) =
            server(&format!("\"command\":\"x\",\"{key}\":[\"delete_all\"]")).unwrap();
        assert!(warnings[0].contains("has no effect here"), "{warnings:?}");
        assert_eq!(server.rule_for("delete_all").tier, Tier::T2);
    }
}

#[test]
fn defaults_are_the_careful_ones() {
    let (server, _) = server(r#""command":"x""#).unwrap();
    let rule = server.rule_for("anything");
    assert_eq!(rule.tier, Tier::T2);
    assert_eq!(rule.effects.takes_in, TakesIn::Foreign);
    assert_eq!(rule.effects.sends, Sends::Outside);
    assert!(!server.stateless);
    assert!(!server.allow.elicitation && !server.allow.sampling && !server.allow.roots);
    assert_eq!(server.era, UpstreamEra::Either);
    assert_eq!(server.limits, Limits::default());
    assert_eq!(server.limits.call, Duration::from_secs(30));
    assert_eq!(server.limits.connect, Duration::from_secs(10));
    assert_eq!(server.limits.result_bytes, 1024 * 1024);
    assert_eq!(server.limits.line_bytes, 16 * 1024 * 1024);
    assert_eq!(server.limits.restarts, 3);
    assert_eq!(server.walls.preset, Preset::None);
}

#[test]
fn everything_that_can_be_said_is_read() {
    let (server, warnings) = server(
        r#""command":"x","args":["-y","${TOKEN}"],"env":{"A":"${TOKEN}","B":"plain"},"cwd":"/srv",
        "stateless":true,"era":"legacy","allowTools":["a","b"],"denyTools":["b"],
        "limits":{"callSeconds":5,"connectSeconds":3,"resultBytes":2048,"lineBytes":65536,"restarts":0,"idleSeconds":10,"questions":1},
        "tier":"T1","effects":{"sends":"inside"},
        "tools":{"a":{"tier":"T0","effects":{"reads":"private","takesIn":"owned"}},"z":{"tier":"T3","target":"/id","cost":0.5}},
        "allow":{"elicitation":true},"walls":{"preset":"offline","read":["/usr"],"write":["/srv/x"],"network":true}"#,
    )
    .unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(server.filter.shows("a") && !server.filter.shows("b") && !server.filter.shows("c"));
    assert_eq!(server.rule_for("other").tier, Tier::T1);
    let a = server.rule_for("a");
    assert_eq!((a.tier, a.effects.reads), (Tier::T0, Reads::Private));
    // A tool's effects stand on the server's.
    assert_eq!((a.effects.takes_in, a.effects.sends), (TakesIn::Owned, Sends::Inside));
    assert_eq!(server.rule_for("z").target.as_deref(), Some("/id"));
    let costs = |tool: &str| server.rule_for(tool).cost.map(narthex_core::Cost::millionths);
    assert_eq!((costs("z"), costs("a")), (Some(500_000), None));
    assert_eq!(server.limits.restarts, 0);
    assert!(server.allow.elicitation && !server.allow.sampling);
    assert!(server.walls.network);
    assert_eq!(server.variables().into_iter().collect::<Vec<_>>(), ["TOKEN"]);
}

#[test]
fn allow_comes_first_and_deny_takes_away() {
    for (inner, shown) in [
        ("", vec!["a", "b", "c"]),
        (r#","allowTools":["a","b"]"#, vec!["a", "b"]),
        (r#","denyTools":["b"]"#, vec!["a", "c"]),
        (r#","allowTools":["a","b"],"denyTools":["b"]"#, vec!["a"]),
        (r#","allowTools":[]"#, vec![]),
        (r#","allowTools":["A"]"#, vec![]),
    ] {
        let (server, _) = server(&format!("\"command\":\"x\"{inner}")).unwrap();
        let tools = ["a", "b", "c"].into_iter().filter(|tool| server.filter.shows(tool));
        assert_eq!(tools.collect::<Vec<_>>(), shown, "{inner}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    for (text, line, column, says) in [
        ("", 1, 1, "not valid JSON"),
        ("{}", 1, 1, "neither `mcpServers` nor `servers`"),
        ("[]", 1, 1, "an object is expected here, and this is a list"),
        (r#"{"mcpServers":{},"servers":{}}"#, 1, 1, "both"),
        ("{\"mcpServers\":{},\n \"mcpservers\":{}}", 2, 2, "did you mean \"mcpServers\"?"),
        ("{\"mcpServers\":{},\n\"mcpServers\":{}}", 2, 1, "appears twice"),
        ("{\"mcpServers\":{\n// me\n}}", 2, 1, "no comments"),
        ("{\"mcpServers\":{\n  \"My\":{\"command\":\"x\"}}}", 2, 3, "mcpServers.My: a name is"),
        ("{\"mcpServers\":{\n \"graph-a\":{\"command\":\"x\"}}}", 2, 2, "is taken"),
        (
            "{\"mcpServers\":{\"a\":{\n \"command\":\"x\",\n \"comand\":1}}}",
            3,
            2,
            "mcpServers.a: the key \"comand\" is not known here; did you mean \"command\"?",
        ),
        (
            "{\"mcpServers\":{\"a\":{\"command\":\"x\",\n\"env\":{\"A\":7}}}}",
            2,
            12,
            "mcpServers.a.env.A: text is expected here, and this is a number",
        ),
    ] {
        let error = file(text).unwrap_err();
        assert_eq!((error.at.line, error.at.column), (line, column), "{text}: {error}");
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}

#[test]
fn what_is_wrong_with_a_server_is_refused() {
    for (inner, says) in [
        ("", "needs a `command`"),
        (r#""command":"x","url":"https://x""#, "not both"),
        (r#""type":"sse","url":"https://x""#, "no longer spoken"),
        (r#""type":"http","command":"x""#, "for servers with a `command`"),
        (r#""type":"stdio","url":"https://x""#, "for servers with a `url`"),
        (r#""type":"ws","url":"https://x""#, "one of stdio, http"),
        (r#""command":"""#, "a command must have"),
        (r#""command":"x\u0000""#, "a command must have"),
        (r#""command":"x\u200b""#, "a command must have"),
        (r#""command":"${SHELL}""#, "nothing is substituted here"),
        (r#""command":"x","cwd":"relative""#, "absolute"),
        (r#""command":"x","cwd":"/a/../b""#, "absolute"),
        (r#""command":"x","args":"-y""#, "a list is expected"),
        (r#""command":"x","args":[1]"#, "args[0]: text is expected"),
        (r#""command":"x","args":["${input:key}"]"#, "export KEY"),
        (r#""command":"x","args":["${A"]"#, "without `}`"),
        (r#""command":"x","env":{"A=B":"1"}"#, "a variable's name"),
        (r#""command":"x","env":{"A":null}"#, "text is expected"),
        (r#""command":"x","headers":{}"#, "for servers with a `url`"),
        (r#""command":"x","auth":{}"#, "for servers with a `url`"),
        (r#""url":"https://x","args":[]"#, "for servers with a `command`"),
        (r#""url":"https://x","env":{}"#, "for servers with a `command`"),
        (r#""url":"https://x","walls":{"preset":"files"}"#, "for servers with a `command`"),
        (r#""url":"ftp://x""#, "https://"),
        (r#""url":"x""#, "https://"),
        (r#""url":"file:///etc/passwd""#, "https://"),
        (r#""url":"https://u:p@x""#, "user or password"),
        (r#""url":"https://x/#f""#, "fragment"),
        (r#""url":"https://x/ y""#, "a blank"),
        (r#""url":"https:\\\\x""#, "backslash"),
        (r#""url":"https://x","headers":{"A B":"1"}"#, "a header's name"),
        (r#""url":"https://x","headers":{"A\r\nB":"1"}"#, "a header's name"),
        (r#""url":"https://x","headers":{"Host":"y"}"#, "written by Narthex"),
        (r#""url":"https://x","headers":{"Mcp-Method":"y"}"#, "written by Narthex"),
        (r#""url":"https://x","headers":{"X":"1","x":"2"}"#, "twice"),
        (r#""url":"https://x","auth":{"bearer":"literal"}"#, "does not belong in the file"),
        (r#""url":"https://x","auth":{"bearer":"${A}","oauth":{}}"#, "one of `bearer`"),
        (r#""url":"https://x","auth":{}"#, "one of `bearer`"),
        (r#""url":"https://x","auth":{"basic":"${A}"}"#, "not known here"),
        (
            r#""url":"https://x","headers":{"authorization":"${A}"},"auth":{"bearer":"${A}"}"#,
            "keep one",
        ),
        (r#""url":"https://x","auth":{"oauth":{"clientId":"a"}}"#, "needs a `grant`"),
        (r#""url":"https://x","auth":{"oauth":{"grant":"password"}}"#, "client_credentials and"),
        (
            r#""url":"https://x","auth":{"oauth":{"grant":"client_credentials","clientId":"a"}}"#,
            "needs `clientId`",
        ),
        (
            r#""url":"https://x","auth":{"oauth":{"grant":"client_credentials","clientId":"a","clientSecret":"b"}}"#,
            "does not belong",
        ),
        (
            r#""url":"https://x","auth":{"oauth":{"grant":"authorization_code","scopes":["a b"]}}"#,
            "a scope",
        ),
        (
            r#""url":"https://x","auth":{"oauth":{"grant":"authorization_code","issuer":"http://x"}}"#,
            "https://",
        ),
        (r#""command":"x","stateless":"yes""#, "true or false"),
        (r#""command":"x","disabled":1"#, "true or false"),
        (r#""command":"x","era":"new""#, "either, modern and legacy"),
        (r#""command":"x","limits":{"callSeconds":31}"#, "from 1 to 30"),
        (r#""command":"x","limits":{"callSeconds":0}"#, "from 1 to 30"),
        (r#""command":"x","limits":{"callSeconds":1.5}"#, "from 1 to 30"),
        (r#""command":"x","limits":{"callSeconds":-1}"#, "from 1 to 30"),
        (r#""command":"x","limits":{"call":1}"#, "not known here"),
        (r#""command":"x","limits":{"lineBytes":65536}"#, "more than `lineBytes`"),
        (r#""command":"x","tools":{"a":{"tier":"t0"}}"#, "T0, T1, T2 and T3"),
        (r#""command":"x","tools":{"a":{"tier":"T3"}}"#, "needs a `target`"),
        (r#""command":"x","tools":{"a":{"target":"id"}}"#, "a JSON pointer"),
        (r#""command":"x","tools":{"a\u200b":{}}"#, "a tool's name"),
        (r#""command":"x","effects":{"reads":"all"}"#, "nothing, public and private"),
        (r#""command":"x","effects":{"takesIn":"byAnswer"}"#, "owned and foreign"),
        (r#""command":"x","allow":{"tools":true}"#, "not known here"),
        (r#""command":"x","walls":{}"#, "needs a `preset`"),
        (r#""command":"x","walls":{"preset":"none","read":["/"]}"#, "only with the presets"),
        (r#""command":"x","walls":{"preset":"none","network":false}"#, "take the preset offline"),
        (r#""command":"x","walls":{"preset":"files","read":["~"]}"#, "absolute"),
        (r#""command":"x","enabled":false"#, "did you mean \"disabled\"?"),
    ] {
        let error = server(inner).unwrap_err().to_string();
        assert!(error.contains(says), "{inner}: {error}");
    }
}

#[test]
fn everything_has_a_bound() {
    let many =
        |n: usize, item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<Vec<_>>().join(",");
    let args = |n| format!("\"command\":\"x\",\"args\":[{}]", many(n, &|_| "\"a\"".into()));
    assert!(server(&args(256)).is_ok());
    assert!(server(&args(257)).is_err());
    let arg = |n| format!("\"command\":\"x\",\"args\":[\"{}\"]", "a".repeat(n));
    assert!(server(&arg(8_192)).is_ok());
    assert!(server(&arg(8_193)).is_err());
    let vars =
        |n| format!("\"command\":\"x\",\"env\":{{{}}}", many(n, &|n| format!("\"A{n}\":\"\"")));
    assert!(server(&vars(128)).is_ok());
    assert!(server(&vars(129)).is_err());
    let servers = |n| {
        format!("{{\"servers\":{{{}}}}}", many(n, &|n| format!("\"s{n}\":{{\"command\":\"x\"}}")))
    };
    assert!(read(&servers(20), 20).is_ok());
    let error = read(&servers(21), 20).unwrap_err().to_string();
    assert!(error.contains("more than 20 servers; raise"), "{error}");
    assert!(read(&servers(200), 10_000).is_ok());
    assert!(read(&servers(201), 10_000).is_err());
    let long = format!("{{\"mcpServers\":{{}},\"version\":\"{}\"}}", "a".repeat(1024 * 1024));
    assert!(file(&long).unwrap_err().to_string().contains("longer than"));
}

#[test]
fn secrets_in_the_file_are_warned_of() {
    for (inner, warned) in [
        (r#""command":"x","env":{"API_KEY":"abc"}"#, Some("${API_KEY}")),
        (r#""command":"x","env":{"X":"ghp_0123456789abcdefABCD"}"#, Some("${X}")),
        (r#""command":"x","env":{"API_KEY":"${API_KEY}"}"#, None),
        (r#""command":"x","env":{"API_KEY":""}"#, None),
        (r#""command":"x","env":{"LEVEL":"debug"}"#, None),
        (r#""command":"x","args":["--k","sk-abcdefghijklmnopqrst"]"#, Some("a secret")),
        (r#""url":"https://x","headers":{"Authorization":"Bearer abc"}"#, Some("${AUTHORIZATION}")),
        (r#""url":"https://x","headers":{"X-Api-Key":"abc"}"#, Some("${X_API_KEY}")),
        (r#""url":"https://x","headers":{"X-Team":"abc"}"#, None),
        (r#""url":"https://x/?token=abc""#, Some("${TOKEN}")),
        (r#""url":"http://x.example/mcp""#, Some("use https")),
    ] {
        let (_, warnings) = server(inner).unwrap();
        assert_eq!(warnings.len(), usize::from(warned.is_some()), "{inner}: {warnings:?}");
        assert!(warnings.iter().all(|w| w.contains(warned.unwrap())), "{inner}: {warnings:?}");
        assert!(warnings.iter().all(|w| !w.contains("ghp_") && !w.contains("abc")), "{warnings:?}");
    }
}

#[test]
fn values_are_put_in_place() {
    let (server, _) = server(
        r#""command":"x","args":["--t=${TOKEN}","$${TOKEN}"],"env":{"A":"${file:/run/token}","B":"${EMPTY:-b}","C":"${NONE:-c}"}"#,
    )
    .unwrap();
    let Resolved::Process { args, env } = server.resolve(&env()).unwrap() else { panic!() };
    let args: Vec<&str> = args.iter().map(SecretString::expose_secret).collect();
    assert_eq!(args, ["--t=s3cr3t-value", "${TOKEN}"]);
    let env: Vec<_> = env.iter().map(|(n, v)| (n.as_str(), v.expose_secret())).collect();
    assert_eq!(env, [("A", "from-a-file"), ("B", "b"), ("C", "c")]);
}

#[test]
fn what_is_missing_or_would_break_out_is_an_error_that_names_it() {
    for (inner, says) in [
        (
            r#""command":"x","args":["${NONE}"]"#,
            "mcpServers.s.args[0]: the variable NONE is not set",
        ),
        (r#""command":"x","env":{"A":"${NONE}"}"#, "mcpServers.s.env.A: the variable NONE"),
        (r#""command":"x","env":{"A":"${EMPTY}"}"#, "the variable EMPTY"),
        (r#""command":"x","env":{"A":"${file:/none}"}"#, "no such file"),
        (r#""command":"x","env":{"A":"${NUL}"}"#, "in place of ${NUL}"),
        (r#""url":"https://x","headers":{"X":"${BROKEN}"}"#, "in place of ${BROKEN}"),
        (r#""url":"https://x","auth":{"bearer":"${BROKEN}"}"#, "in place of ${BROKEN}"),
        (r#""url":"https://x/${BROKEN}""#, "in place of ${BROKEN}"),
        (r#""url":"${TOKEN}""#, "https://"),
    ] {
        let (server, _) = server(inner).unwrap();
        let error = server.resolve(&env()).unwrap_err().to_string();
        assert!(error.starts_with("line 1, column"), "{error}");
        assert!(error.contains(says), "{inner}: {error}");
        assert!(!error.contains("s3cr3t"), "{error}");
    }
}

#[test]
fn no_debug_shows_a_value() {
    let (server, _) = server(
        r#""url":"https://${HOST}/mcp","headers":{"X":"literal-secret-1 ${TOKEN}"},"auth":{"oauth":{"grant":"client_credentials","clientId":"c","clientSecret":"${TOKEN}","scopes":["a"]}}"#,
    )
    .unwrap();
    let resolved = server.resolve(&env()).unwrap();
    let shown = format!("{server:?} {resolved:?}");
    for secret in ["s3cr3t", "literal-secret-1"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    let Resolved::Http { url, origin, headers, auth } = resolved else { panic!() };
    assert_eq!(url.expose_secret(), "https://api.example/mcp");
    assert_eq!(origin, "https://api.example");
    assert_eq!(headers[0].1.expose_secret(), "literal-secret-1 s3cr3t-value");
    let Some(ResolvedAuth::OAuth { settings, client_secret, .. }) = auth else { panic!() };
    assert_eq!(settings.grant, OAuthGrant::ClientCredentials);
    assert_eq!(client_secret.unwrap().expose_secret(), "s3cr3t-value");
    let Reach::Http(http) = &server.reach else { panic!() };
    assert!(matches!(http.auth, Some(Auth::OAuth(_))));
    assert!(!format!("{:?}", http.headers[0].1.parts()).contains("literal"));
}

#[test]
fn profiles_are_held_to_the_servers_there_are() {
    let with = |profiles: serde_json::Value| {
        let servers = json!({"a": {"command": "a"}, "h": {"url": "https://x"}});
        file(&json!({"mcpServers": servers, "profiles": profiles}).to_string())
    };
    assert_eq!(with(json!({"work": {"servers": ["a", "h"]}})).unwrap().profiles.len(), 1);
    for (profiles, says) in [
        (json!({"Work": {}}), "a name is"),
        (json!({"w": {"servers": ["b"]}}), "no server of that name"),
        (json!({"w": {"servers": ["A"]}}), "a name is"),
        (json!({"w": {"overrides": {"a": {}}}}), "not among the profile's"),
        (json!({"w": {"servers": ["a"], "overrides": {"a": {"command": "b"}}}}), "not known here"),
        (json!({"w": {"servers": ["h"], "overrides": {"h": {"env": {}}}}}), "with a `command`"),
        (json!({"w": {"servers": ["a"], "extends": "x"}}), "not known here"),
    ] {
        let error = with(profiles.clone()).unwrap_err().to_string();
        assert!(error.contains(says), "{profiles}: {error}");
    }
}

#[test]
fn what_is_no_cost_is_named_with_its_place() {
    for cost in ["-1", "1e308", "1000000001", "\"1\"", "null", "true", "[1]"] {
        let said = format!(r#""command":"x","tools":{{"a":{{"cost":{cost}}}}}"#);
        let error = server(&said).unwrap_err().to_string();
        assert!(error.contains("tools.a.cost"), "{cost}: {error}");
    }
    // Of two rules the dearer one holds.
    let rule = |cost: &str| {
        let said = format!(r#""command":"x","tools":{{"a":{{{cost}}}}}"#);
        server(&said).unwrap().0.rule_for("a").clone()
    };
    let (dear, cheap, none) = (rule(r#""cost":2"#), rule(r#""cost":1"#), rule(""));
    assert_eq!(dear.stricter(&cheap).cost, dear.cost);
    assert_eq!(none.stricter(&cheap).cost, cheap.cost);
}
