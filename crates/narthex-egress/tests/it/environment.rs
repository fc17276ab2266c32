//! G18: what the environment says about proxies and certificates is not heard.

use std::process::Command;

use narthex_egress::{EgressError, Request};

use crate::support::{Names, Server, Spy, answer, client, file, reaching};
use crate::unfiltered;

#[test]
fn g18_proxies_and_certificates_of_the_environment_are_ignored() {
    let proxy = Spy::new();
    run("environment::with_the_filter", &proxy);
    assert_eq!(proxy.hits("127.0.0.1"), 0);
}

/// The control: the same environment, and a client as the library makes it.
#[test]
fn g18_without_the_filter_the_environment_is_heard() {
    let proxy = Spy::new();
    run("environment::without_the_filter", &proxy);
    assert!(proxy.hits("127.0.0.1") >= 1);
}

/// Runs one of the tests below in a process of its own, whose environment is hostile.
fn run(test: &str, proxy: &Spy) {
    let url = format!("http://127.0.0.1:{}", proxy.port);
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", test]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
    {
        command.env(name, &url);
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    command.env("SSL_CERT_FILE", file("cert.pem"));
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
#[ignore = "run by the tests above, in a hostile environment"]
async fn with_the_filter() {
    let server = Server::saying(answer("keys"));
    let names = Names::of(&[("public.example", &["127.0.0.1"])]);
    let mut config = reaching(&[("public.example", &server)]);
    let url = server.url("public.example", "/");
    let fetched = client(config.clone(), &names).fetch(Request::get(&url)).await;
    assert_eq!(fetched.expect("directly").body, "keys");
    config.extra_roots = None;
    let error = client(config, &names).fetch(Request::get(&url)).await.expect_err("not trusted");
    let EgressError::Unreachable { detail, .. } = error else { panic!("{error}") };
    assert!(detail.contains("UnknownIssuer"), "{detail}");
}

#[tokio::test]
#[ignore = "run by the tests above, in a hostile environment"]
async fn without_the_filter() {
    let server = Server::saying(answer("keys"));
    let through_the_proxy = unfiltered::as_it_comes().get("http://public.example/").send().await;
    let body = through_the_proxy.expect("the proxy answers").text().await;
    assert_eq!(body.expect("a body"), "spy");
    // The certificate of the environment is believed by who asks the system's store.
    let names = Names::of(&[("public.example", &["127.0.0.1"])]);
    let fetched = unfiltered::of_the_system(&names).get(server.url("public.example", "/")).send();
    assert_eq!(fetched.await.expect("trusted").text().await.expect("a body"), "keys");
}
