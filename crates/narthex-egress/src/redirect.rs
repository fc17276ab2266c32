//! One hop to the next: where to, and what goes along.

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::{Method, StatusCode};

use crate::error::RedirectFault;
use crate::message::{Fetched, Request};
use crate::parse::{Target, resolve_location};
use crate::policy::{EgressPolicy, Zone};

/// What is sent on one hop. The headers of the first are the caller's; what is dropped on the way
/// does not come back.
#[derive(Clone)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Hop {
    pub(crate) fn first(request: Request) -> Self {
        Self { method: request.method, headers: request.headers, body: request.body }
    }

    /// The hop that an answer asks for.
    pub(crate) fn next(
        &self,
        policy: &EgressPolicy,
        from: &Target,
        answer: &Fetched,
    ) -> Result<(Self, Target), RedirectFault> {
        let refused = |error| RedirectFault::Target(Box::new(error));
        let location = location(&answer.headers)?;
        let location = resolve_location(from, location).map_err(|fault| refused(fault.into()))?;
        let downgrade = from.is_secure() && is_clear(&location);
        if downgrade {
            return Err(RedirectFault::Downgrade);
        }
        let to = policy.judge_url(&location).map_err(refused)?;
        let same_origin = from.origin() == to.origin();
        let mut hop = self.sent_on(answer.status, same_origin)?;
        if !same_origin {
            hop.headers = kept(&hop.headers);
        }
        Ok((hop, to))
    }

    /// Method and body. 303 says how: ask for the result. 301 and 302 do not say whether a change
    /// is to be made again, so it is not.
    fn sent_on(&self, status: StatusCode, same_origin: bool) -> Result<Self, RedirectFault> {
        let is_safe = matches!(self.method, Method::GET | Method::HEAD);
        if status == StatusCode::SEE_OTHER {
            let method = if self.method == Method::HEAD { Method::HEAD } else { Method::GET };
            let headers = without_body(&self.headers);
            return Ok(Self { method, headers, body: Bytes::new() });
        }
        let says_again =
            matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let may_resend = same_origin && says_again;
        if may_resend || (is_safe && (same_origin || self.body.is_empty())) {
            return Ok(self.clone());
        }
        Err(RedirectFault::Resend(self.method.clone()))
    }
}

/// Whether this answer asks to go elsewhere.
pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Whoever is outside does not get to use what was allowed to the owner's own settings.
pub(crate) fn check_zones(from: Zone, to: Zone, target: &Target) -> Result<(), RedirectFault> {
    match (from, to) {
        (Zone::Outside, Zone::Inside) => Err(RedirectFault::Inside(target.origin())),
        _ => Ok(()),
    }
}

fn location(headers: &HeaderMap) -> Result<&str, RedirectFault> {
    let mut all = headers.get_all(header::LOCATION).iter();
    match (all.next(), all.next()) {
        (Some(one), None) => one.to_str().map_err(|_| RedirectFault::Location),
        _ => Err(RedirectFault::Location),
    }
}

fn is_clear(location: &str) -> bool {
    location.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"))
}

fn kept(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| KEPT.contains(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn without_body(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE] {
        headers.remove(name);
    }
    headers
}

/// What another origin may see. Any other header may be a secret under a name we do not know.
const KEPT: &[HeaderName] = &[header::ACCEPT, header::ACCEPT_LANGUAGE, header::USER_AGENT];

#[cfg(test)]
mod tests;
