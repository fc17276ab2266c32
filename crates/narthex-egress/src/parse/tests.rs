use super::{Target, UrlFault, resolve_location};

fn read(text: &str) -> Result<Target, UrlFault> {
    Target::read(text, 2048)
}

#[test]
fn a_plain_url_is_read() {
    for (text, origin) in [
        ("https://example.com", "https://example.com:443"),
        ("HTTPS://Example.COM/a/b?c=d%20e", "https://example.com:443"),
        ("https://example.com:8443?x", "https://example.com:8443"),
        ("http://127.0.0.1:80/", "http://127.0.0.1:80"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]:443"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example:443"),
    ] {
        assert_eq!(read(text).map(|target| target.origin()), Ok(origin.to_owned()), "{text}");
    }
}

#[test]
fn each_fault_is_named() {
    let long = format!("https://example.com/{}", "a".repeat(2048));
    for (text, fault) in [
        (long.as_str(), UrlFault::TooLong(2048)),
        ("https://exa\tmple.com/", UrlFault::Control),
        ("https://example.com/\r\nHost: x", UrlFault::Control),
        ("https://example.com/\u{85}", UrlFault::Control),
        (" https://example.com/", UrlFault::Blank),
        ("https://example.com\\@evil.com/", UrlFault::Backslash),
        ("https://example.com/<x>", UrlFault::Character),
        ("https://example.com/%zz", UrlFault::Percent),
        ("https://example.com/%", UrlFault::Percent),
        ("https://example.com/%00", UrlFault::EncodedControl),
        ("https://example.com/%0d%0aX", UrlFault::EncodedControl),
        ("ftp://example.com/", UrlFault::Scheme),
        ("https:example.com", UrlFault::Scheme),
        ("https:/example.com", UrlFault::Scheme),
        ("//example.com", UrlFault::Scheme),
        ("https:///example.com", UrlFault::NoHost),
        ("https://", UrlFault::NoHost),
        ("https://:443/", UrlFault::NoHost),
        ("https://a:b@example.com/", UrlFault::Userinfo),
        ("https://@example.com/", UrlFault::Userinfo),
        ("https://example.com#@evil.com/", UrlFault::Fragment),
        ("https://example.com/#x", UrlFault::Fragment),
        ("https://%65xample.com/", UrlFault::EncodedHost),
        ("https://[fe80::1%25eth0]/", UrlFault::EncodedHost),
        ("https://example.com./", UrlFault::TrailingDot),
        ("https://127.0.0.1./", UrlFault::TrailingDot),
        ("https://exa_mple.com/", UrlFault::BadHost),
        ("https://-a.com/", UrlFault::BadHost),
        ("https://a..com/", UrlFault::BadHost),
        ("https://[::1/", UrlFault::Port),
        ("https://[::1]x/", UrlFault::BadHost),
        ("https://::1/", UrlFault::Port),
        ("https://1.2.3.4.5/", UrlFault::BadHost),
        ("https://0x7f.1/", UrlFault::Spelling("127.0.0.1".into())),
        ("https://0177.0.0.1/", UrlFault::Spelling("127.0.0.1".into())),
        ("https://2130706433/", UrlFault::Spelling("127.0.0.1".into())),
        ("https://[0:0::1]/", UrlFault::Spelling("::1".into())),
        ("https://example.com:0/", UrlFault::Port),
        ("https://example.com:/", UrlFault::Port),
        ("https://example.com:0443/", UrlFault::Port),
        ("https://example.com:65536/", UrlFault::Port),
        ("https://example.com:+443/", UrlFault::Port),
        ("https://example.com:443:80/", UrlFault::Port),
        ("https://bücher.example/", UrlFault::NotAscii(Some("xn--bcher-kva.example".into()))),
        ("https://аpple.com/", UrlFault::NotAscii(Some("xn--pple-43d.com".into()))),
        ("https://１２７.0.0.1/", UrlFault::NotAscii(Some("127.0.0.1".into()))),
        ("https://127。0。0。1/", UrlFault::NotAscii(Some("127.0.0.1".into()))),
    ] {
        assert_eq!(read(text).map(|target| target.origin()), Err(fault), "{text:?}");
    }
}

#[test]
fn a_location_is_made_whole_and_stays_to_be_judged() {
    let from = read("https://example.com:8443/a/b?c").expect("a target");
    for (location, whole) in [
        ("/x", "https://example.com:8443/x"),
        ("x?y", "https://example.com:8443/a/x?y"),
        ("?y", "https://example.com:8443/a/b?y"),
        ("//other.example/x", "https://other.example/x"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        ("https:/127.0.0.1/", "https:/127.0.0.1/"),
        ("file:/etc/passwd", "file:/etc/passwd"),
    ] {
        assert_eq!(resolve_location(&from, location), Ok(whole.to_owned()), "{location}");
    }
    for location in ["/\\evil.com", "/x#@evil.com", "\t//evil.com", "/%00"] {
        assert!(resolve_location(&from, location).is_err(), "{location:?}");
    }
}

#[test]
fn what_is_shown_of_a_target_is_its_origin() {
    let target = read("https://example.com/secret/path?token=abc").expect("a target");
    assert_eq!(format!("{target:?}"), "Target(\"https://example.com:443\")");
}
