//! Kill switches.

use narthex_core::{Engaged, SwitchScope};
use narthex_store::{Effected, Refused};

use crate::fault::Fault;
use crate::gate::Bench;

/// Engages one. Engaging an engaged one changes nothing.
pub(super) async fn engage(bench: &mut Bench<'_>, engaged: Engaged) -> Result<Effected, Fault> {
    bench.engage(engaged).await.map(Effected::Changed)
}

/// Lifts one that is engaged.
pub(super) async fn lift(bench: &mut Bench<'_>, scope: SwitchScope) -> Result<Effected, Fault> {
    if bench.lift(scope.clone()).await? {
        Ok(Effected::Done)
    } else {
        Err(Refused::NotEngaged(scope).into())
    }
}
