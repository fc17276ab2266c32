//! Latches.

use std::time::Duration;

use narthex_core::{Arming, Cause, Holder, Moment, Taint};
use narthex_store::Effected;

use crate::fault::Fault;
use crate::gate::{Bench, Gate};

/// Opens what is named, or of that only what was not set again since a window that ran out.
pub(super) async fn clear(
    bench: &mut Bench<'_>,
    holder: Holder,
    taint: Taint,
    ran_out: Option<(Moment, Duration)>,
) -> Result<Effected, Fault> {
    let mut latch = bench.gate.latch(&holder).cloned().unwrap_or_default();
    let opens = |bit: &Option<Cause>| match (bit, ran_out) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(cause), Some((now, window))) => now.has_run_out(cause.last, window),
    };
    let taint = Taint {
        private: taint.private && opens(&latch.private),
        untrusted: taint.untrusted && opens(&latch.untrusted),
    };
    let changed = latch.clear(taint);
    if changed {
        bench.keep_latch(holder, latch).await?;
    }
    Ok(Effected::Changed(changed))
}

/// Whether this would change anything worth keeping.
pub(in crate::writer) fn would_arm(gate: &Gate, arming: &Arming) -> bool {
    match gate.latch(&arming.holder) {
        Some(latch) => latch.would_arm(arming.taint, arming.cause.last),
        None => !arming.taint.is_clean(),
    }
}

/// What the answer that a unit releases does to a latch.
pub(in crate::writer) async fn arm(bench: &mut Bench<'_>, arming: &Arming) -> Result<(), Fault> {
    if would_arm(bench.gate, arming) {
        let mut latch = bench.gate.latch(&arming.holder).cloned().unwrap_or_default();
        latch.arm(arming.taint, &arming.cause);
        bench.keep_latch(arming.holder, latch).await?;
    }
    Ok(())
}
