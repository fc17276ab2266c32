//! Routes that are the owner's, and nobody else's.

use axum::body::Body;
use http::Response;
use http::request::Parts;
use narthex_gate::{Gate, Presented};

use super::bearer::bearer;
use super::endpoint::source;
use super::refuse::turned_away;

/// Lets the owner in, by the owner's token. An agent's, a wrong one and none are the same answer.
pub async fn owner_only(gate: &Gate, parts: &Parts) -> Result<(), Box<Response<Body>>> {
    let presented = Presented { bearer: bearer(&parts.headers), source: source(parts) };
    let identified = gate.identify_owner(presented).await;
    identified.map_err(|refusal| Box::new(turned_away(&refusal)))
}
