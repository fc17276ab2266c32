//! Reading `narthex.toml`: unknown keys, bounds and types, each refused with its place.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;

use super::check::{Fault, check};
use super::excerpt::{excerpt, position};
use super::keys::Config;
use crate::failure::{Exit, Failure};

impl Config {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the text of a file called `name`.
    pub fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        if text.len() > FILE_BYTES {
            let message = format!("{name}: longer than {FILE_BYTES} bytes");
            return Err(Failure::new(Exit::Usage, message));
        }
        let faults = check(text).map_err(|error| toml_failure(name, text, &error))?;
        if let Some(fault) = faults.into_iter().next() {
            return Err(place(name, text, fault));
        }
        let config: Self =
            toml::from_str(text).map_err(|error| toml_failure(name, text, &error))?;
        config.fits_together().map_err(|(message, hint)| {
            Failure::new(Exit::Usage, format!("{name}: {message}")).hint(hint)
        })?;
        Ok(config)
    }

    /// The same settings, listening elsewhere.
    pub fn listening_at(mut self, address: SocketAddr) -> Result<Self, Failure> {
        self.listen.address = address;
        match self.fits_together() {
            Ok(()) => Ok(self),
            Err((message, hint)) => Err(Failure::new(Exit::Usage, message).hint(hint)),
        }
    }

    /// What no key alone can say. INVARIANT: leaving loopback takes three separate decisions.
    fn fits_together(&self) -> Result<(), (String, &'static str)> {
        if self.sessions.idle_seconds > self.sessions.absolute_seconds {
            let message = "sessions.idle_seconds is longer than sessions.absolute_seconds";
            return Err((message.to_owned(), "a session ends at the earlier of the two"));
        }
        let listen = &self.listen;
        let tls = listen.tls_certificate.is_some();
        if tls != listen.tls_key.is_some() {
            let message = "listen.tls_certificate and listen.tls_key go together".to_owned();
            return Err((message, "set both, or neither"));
        }
        if tls && listen.behind_tls_proxy {
            let message = "listen.behind_tls_proxy and listen.tls_certificate exclude each other";
            return Err((message.to_owned(), "say who ends TLS: this server, or a proxy"));
        }
        if listen.address.ip().is_loopback() {
            return Ok(());
        }
        let outside = format!("listen.address {} is not loopback", listen.address);
        if !listen.reachable_from_outside {
            let hint = "listen on 127.0.0.1, or set listen.reachable_from_outside = true";
            return Err((outside, hint));
        }
        if !tls && !listen.behind_tls_proxy {
            let hint =
                "set listen.tls_certificate and listen.tls_key, or listen.behind_tls_proxy = true";
            return Err((format!("{outside}, and there is no TLS"), hint));
        }
        if listen.hosts.is_empty() {
            let hint = "list the names clients use in listen.hosts";
            return Err((format!("{outside}, and listen.hosts is empty"), hint));
        }
        Ok(())
    }
}

/// What the parser itself found.
fn toml_failure(name: &str, text: &str, error: &toml::de::Error) -> Failure {
    let message = error.message().trim().replace('\n', "; ");
    let span = error.span().unwrap_or(0..0);
    place(name, text, Fault { span, message, label: "here".to_owned(), hint: None })
}

/// Says where in the file, and draws it.
fn place(name: &str, text: &str, fault: Fault) -> Failure {
    let Fault { span, message, label, hint } = fault;
    let (line, column) = position(text, span.start);
    let drawn = excerpt(name, text, narrow(text, span), &label);
    let failure = Failure::new(Exit::Usage, format!("{name}:{line}:{column}: {message}\n{drawn}"));
    Failure { hint, ..failure }
}

/// A place is drawn on one line, or it hides what it is about.
fn narrow(text: &str, span: Range<usize>) -> Range<usize> {
    let first = text.get(span.clone()).and_then(|inside| inside.find('\n'));
    first.map_or(span.clone(), |at| span.start..span.start + at)
}

/// Settings are short; whatever is longer is another file.
const FILE_BYTES: usize = 256 * 1024;
