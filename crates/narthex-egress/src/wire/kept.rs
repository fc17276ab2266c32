//! Connections that are used again, to what was checked and nobody else.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use reqwest::{Client, Response};

use super::{Chunks, Kept, Opened, check_head, unreachable};
use crate::config::EgressConfig;
use crate::error::EgressError;
use crate::parse::Target;
use crate::policy::Admitted;
use crate::redirect::Hop;

pub(super) struct Connections {
    client: Client,
    to: Admitted,
    config: EgressConfig,
}

impl Connections {
    pub(super) fn new(client: Client, to: Admitted, config: EgressConfig) -> Self {
        Self { client, to, config }
    }
}

#[async_trait]
impl Kept for Connections {
    fn to(&self) -> &Admitted {
        &self.to
    }

    async fn send(&self, url: &Target, hop: &Hop) -> Result<Opened, EgressError> {
        let mut headers = hop.headers.clone();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut request =
            self.client.request(hop.method.clone(), url.url().clone()).headers(headers);
        if !hop.body.is_empty() {
            request = request.body(hop.body.clone());
        }
        let response = request.send().await.map_err(|error| unreachable(&self.to, &error))?;
        check_head(&self.config, &self.to, &response)?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Opened { status, headers, body: Box::new(Live { response, to: self.to.clone() }) })
    }
}

/// A body on its way.
struct Live {
    response: Response,
    to: Admitted,
}

#[async_trait]
impl Chunks for Live {
    async fn next(&mut self) -> Result<Option<Bytes>, EgressError> {
        self.response.chunk().await.map_err(|error| unreachable(&self.to, &error))
    }
}
