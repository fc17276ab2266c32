//! The few requests there are, each over a line that stays at its origin, under a cap and a deadline.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use narthex_egress::{Answering, EgressClient, LineRequest, LineTerms};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;

use crate::fault::{Fault, wrong};

/// How others are asked.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    pub(crate) egress: EgressClient,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Wire {
    /// Metadata; none if there is nothing at that place.
    pub(crate) async fn metadata<T: DeserializeOwned>(
        &self,
        url: &str,
        what: &str,
    ) -> Result<Option<T>, Fault> {
        let answer = self.send(url, Method::GET, json_wanted(), Bytes::new()).await?;
        let status = answer.status;
        if status.is_client_error() {
            return Ok(None);
        }
        if status != StatusCode::OK {
            return Err(Fault::Unreachable(format!(
                "{what} was answered with {}",
                status.as_u16()
            )));
        }
        let body = answer.whole(MAX_METADATA).await?;
        let read = serde_json::from_slice(&body);
        read.map(Some).map_err(|_| wrong(format!("{what} is not what it must be")))
    }

    /// What a server says to who does not say who it is.
    pub(crate) async fn challenge(&self, url: &str) -> Result<Option<String>, Fault> {
        let mut headers = HeaderMap::new();
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accepted);
        let answer = self.send(url, Method::GET, headers, Bytes::new()).await?;
        let said = answer.headers.get(WWW_AUTHENTICATE).and_then(|said| said.to_str().ok());
        let said = said.filter(|said| said.len() <= MAX_CHALLENGE).map(str::to_owned);
        Ok(said.filter(|_| answer.status == StatusCode::UNAUTHORIZED))
    }

    /// Sends a form, with what goes into `Authorization` if anything does.
    pub(crate) async fn form(
        &self,
        url: &str,
        form: String,
        basic: Option<&SecretString>,
    ) -> Result<Answer, Fault> {
        let mut headers = json_wanted();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, kind);
        if let Some(basic) = basic {
            let value = HeaderValue::from_str(&format!("Basic {}", basic.expose_secret()));
            let mut value = value.map_err(|_| wrong("the client's secret cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        whole(self.send(url, Method::POST, headers, form.into()).await?).await
    }

    /// Sends JSON.
    pub(crate) async fn json(&self, url: &str, body: String) -> Result<Answer, Fault> {
        let mut headers = json_wanted();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        whole(self.send(url, Method::POST, headers, body.into()).await?).await
    }

    async fn send(
        &self,
        url: &str,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answering, Fault> {
        let terms = LineTerms { idle: 0, concurrent: 1, ..LineTerms::default() };
        let line = self.egress.line(url, terms)?;
        let request =
            LineRequest { method, headers, body, deadline: DEADLINE, body_bytes: MAX_METADATA };
        Ok(line.send(request).await?)
    }
}

async fn whole(answer: Answering) -> Result<Answer, Fault> {
    let status = answer.status;
    Ok(Answer { status, body: answer.whole(MAX_ANSWER).await? })
}

fn json_wanted() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers
}

const DEADLINE: Duration = Duration::from_secs(10);
const MAX_METADATA: usize = 256 * 1024;
const MAX_ANSWER: usize = 64 * 1024;
const MAX_CHALLENGE: usize = 4096;
