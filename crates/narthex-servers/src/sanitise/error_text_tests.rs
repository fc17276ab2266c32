//! What an error must not say.

use proptest::prelude::*;
use secrecy::SecretString;

use super::{ERROR_CHARS, Scrubber};
use crate::config::Resolved;

const SECRET: &str = "hunter2-S\"e/c r+t";

fn scrubber() -> Scrubber {
    let secret: SecretString = SECRET.into();
    let word: SecretString = "hunter2".into();
    let values = [("TOKEN", &secret), ("WORD", &word)];
    Scrubber::new(values, ["/Users/ada", "/x/narthex-data"])
}

#[test]
fn values_are_taken_out_in_whatever_form() {
    for (text, left) in [
        ("plain words", "plain words"),
        ("bad token hunter2-S\"e/c r+t!", "bad token [TOKEN]!"),
        ("{\"t\":\"hunter2-S\\\"e/c r+t\"}", "{\"t\":\"[TOKEN]\"}"),
        ("GET /?t=hunter2-S%22e%2Fc+r%2Bt", "GET /?t=[TOKEN]"),
        ("GET /?t=hunter2-S%22e%2Fc%20r%2Bt", "GET /?t=[TOKEN]"),
        ("Basic-ish aHVudGVyMi1TImUvYyBy", "Basic-ish [TOKEN]"),
        ("only hunter2", "only [WORD]"),
        // Hidden characters do not hide it.
        ("hun\u{200b}ter2", "[WORD]"),
        ("hun\u{1b}[0mter2", "[WORD]"),
        // What nobody gave us, but has the shape of one.
        ("key ghp_0123456789abcdefABCD", "key [secret]"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "jwt [secret]"),
        ("postgres://u:pw@db.example/x", "[secret]db.example/x"),
        ("?api_key=abcdef&x=1", "?api_key=[secret]&x=1"),
        ("password: abcdef", "password: [secret]"),
        ("\"client_secret\": \"abcdef\"", "\"client_secret\": \"[secret]\""),
        ("Authorization: Bearer abcdef0123456789", "Authorization: [secret]"),
    ] {
        assert_eq!(scrubber().scrub(text), left, "{text}");
    }
}

#[test]
fn places_on_this_machine_are_taken_out_and_others_are_not() {
    for (text, left) in [
        ("ENOENT: no such file '/home/ada/x y'", "ENOENT: no such file '[path] y'"),
        ("at run (/srv/app/index.js:10:3)", "at run ([path]:10:3)"),
        ("at /odd/place/file.py line 3", "at [path] line 3"),
        ("at /odd/place/thing:12", "at [path]"),
        ("see file:///etc/passwd", "see [path]"),
        ("read ~/.ssh/id_rsa", "read [path]"),
        ("open C:\\Users\\ada\\x.txt", "open [path]"),
        ("open \\\\host\\share\\x", "open [path]"),
        ("in /x/narthex-data/db", "in [path]/db"),
        ("dir=/var/lib/x", "dir=[path]"),
        ("/tmp", "[path]"),
        // An address on the network and a route of an API are no places here.
        ("GET https://api.example.com/home/x failed", "GET https://api.example.com/home/x failed"),
        ("404 /repos/ada/x", "404 /repos/ada/x"),
        ("and/or", "and/or"),
        ("1/2", "1/2"),
    ] {
        assert_eq!(scrubber().scrub(text), left, "{text}");
    }
}

#[test]
fn an_error_is_short_and_holds_no_half_of_a_secret() {
    let long = "x".repeat(1_000_000);
    assert_eq!(scrubber().scrub(&long).chars().count(), ERROR_CHARS);
    // Wherever the text is cut, what is left of a secret is cut too.
    for before in (64 * 1024 - 20)..=(64 * 1024) {
        let text =
            format!("{}{SECRET}{}", "\u{200b}x".repeat(before / 4), "hunter2".repeat(10_000));
        assert!(!scrubber().scrub_to(&text, usize::MAX).contains("hu"), "{before}");
    }
    assert!(!scrubber().scrub_to(&format!("{}{SECRET}", "x".repeat(1_995)), 2_000).contains("hun"));
}

#[test]
fn what_a_server_is_started_with_is_known() {
    let resolved = Resolved::Process {
        args: vec!["--verbose".into(), "sk-abcdefghijklmnopqrstuv".into()],
        env: vec![
            ("LEVEL".into(), "debug".into()),
            ("PORT".into(), "8080".into()),
            ("KEY".into(), "correct horse".into()),
        ],
    };
    let scrubber = Scrubber::of(&resolved, []);
    let text = "debug 8080 --verbose: correct horse, sk-abcdefghijklmnopqrstuv";
    assert_eq!(scrubber.scrub(text), "debug 8080 --verbose: [KEY], [argument]");
    assert!(!format!("{scrubber:?}").contains("horse"));
}

#[test]
fn a_scheme_does_not_hide_its_token() {
    let resolved = Resolved::Http {
        url: "https://x.example/mcp".into(),
        origin: "https://x.example".into(),
        headers: vec![("Authorization".into(), "Bearer my plain token".into())],
        auth: None,
    };
    let scrubbed = Scrubber::of(&resolved, []).scrub("the token my plain token is bad");
    assert_eq!(scrubbed, "the token [Authorization] is bad");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn a_secret_never_comes_through(
        secret in "[!-~]{6,30}", before in "\\PC{0,20}", after in "\\PC{0,20}"
    ) {
        let value: SecretString = secret.clone().into();
        let scrubber = Scrubber::new([("S", &value)], []);
        let scrubbed = scrubber.scrub(&format!("{before}{secret}{after}"));
        prop_assert!(!scrubbed.contains(&secret), "{}", scrubbed);
    }
}
