//! The table: mode and tier against taint. One function, read cell by cell by its test.

use crate::{Ceiling, Containment, Effects, Mode, Reason, Sends, Taint, Tier};

/// Where a call stands when the table is asked.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// The server's posture.
    pub mode: Mode,
    /// The highest tier allowed now.
    pub ceiling: Ceiling,
    /// What the agent has taken in.
    pub taint: Taint,
}

/// What the table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// Goes ahead.
    Allow,
    /// Goes ahead only with the owner's approval of exactly this call.
    NeedsApproval {
        /// Why an approval is needed.
        because: Reason,
        /// Whether it also needs one target and the typed nonce.
        nonce: bool,
    },
    /// Does not go ahead.
    Refuse(Reason),
}

/// What happens to a call of this tier with these effects, from this standing.
pub fn rule(standing: &Standing, tier: Tier, effects: &Effects) -> Ruling {
    if !standing.mode.ceiling_admits(tier) {
        return Ruling::Refuse(Reason::OverMode);
    }
    if !standing.ceiling.admits(tier) {
        return Ruling::Refuse(Reason::OverCeiling);
    }
    let by_tier = match tier {
        Tier::T1 if effects.containment == Containment::Direct && standing.taint.untrusted => {
            Ruling::NeedsApproval { because: Reason::Tainted, nonce: false }
        }
        Tier::T0 | Tier::T1 => Ruling::Allow,
        Tier::T2 => Ruling::NeedsApproval { because: Reason::ApprovalNeeded, nonce: false },
        Tier::T3 => Ruling::NeedsApproval { because: Reason::ApprovalNeeded, nonce: true },
    };
    // Beside the table stands egress: it asks at any tier, contained or not.
    match (by_tier, effects.sends) {
        (Ruling::Allow, Sends::Outside) if standing.taint.is_trifecta() => {
            Ruling::NeedsApproval { because: Reason::EgressWhileTainted, nonce: false }
        }
        (ruling, _) => ruling,
    }
}

impl Mode {
    fn ceiling_admits(self, tier: Tier) -> bool {
        tier <= self.ceiling()
    }
}

#[cfg(test)]
mod tests {
    use super::{Ruling, Standing, rule};
    use crate::{
        Ceiling, Consent, Containment, EffectSite, Effects, Mode, Reads, Reason, Sends, Taint,
        TakesIn, Tier,
    };

    const ALLOW: Ruling = Ruling::Allow;
    const ASK: Ruling = Ruling::NeedsApproval { because: Reason::ApprovalNeeded, nonce: false };
    const ASK_NONCE: Ruling =
        Ruling::NeedsApproval { because: Reason::ApprovalNeeded, nonce: true };
    const ASK_TAINTED: Ruling = Ruling::NeedsApproval { because: Reason::Tainted, nonce: false };
    const REFUSE: Ruling = Ruling::Refuse(Reason::OverMode);

    #[test]
    fn the_table_cell_by_cell() {
        use Containment::{Contained, Direct};
        // tier, containment, then (clean, untrusted) for readonly, guarded, open.
        let table = [
            (Tier::T0, Direct, [ALLOW, ALLOW], [ALLOW, ALLOW], [ALLOW, ALLOW]),
            (Tier::T1, Contained, [REFUSE, REFUSE], [ALLOW, ALLOW], [ALLOW, ALLOW]),
            (Tier::T1, Direct, [REFUSE, REFUSE], [ALLOW, ASK_TAINTED], [ALLOW, ASK_TAINTED]),
            (Tier::T2, Direct, [REFUSE, REFUSE], [ASK, ASK], [ASK, ASK]),
            (Tier::T3, Direct, [REFUSE, REFUSE], [REFUSE, REFUSE], [ASK_NONCE, ASK_NONCE]),
        ];
        for (tier, containment, readonly, guarded, open) in table {
            for (mode, cells) in
                [(Mode::Readonly, readonly), (Mode::Guarded, guarded), (Mode::Open, open)]
            {
                for (untrusted, expected) in [(false, cells[0]), (true, cells[1])] {
                    let got = ask(
                        mode,
                        Tier::T3,
                        tier,
                        containment,
                        Sends::Inside,
                        Taint { private: true, untrusted },
                    );
                    assert_eq!(
                        got, expected,
                        "{tier} {containment:?} {mode} untrusted={untrusted}"
                    );
                }
            }
        }
    }

    #[test]
    fn egress_while_both_latches_are_set_needs_approval_at_any_tier() {
        let both = Taint { private: true, untrusted: true };
        for tier in Tier::ALL {
            for containment in [Containment::Contained, Containment::Direct] {
                let got = ask(Mode::Open, Tier::T3, tier, containment, Sends::Outside, both);
                assert!(
                    matches!(got, Ruling::NeedsApproval { .. }),
                    "{tier} {containment:?}: {got:?}"
                );
            }
        }
        let one = Taint { private: true, untrusted: false };
        assert_eq!(
            ask(Mode::Open, Tier::T3, Tier::T0, Containment::Direct, Sends::Outside, one),
            Ruling::Allow
        );
    }

    #[test]
    fn over_the_ceiling_is_refused_in_every_mode() {
        for ceiling in Tier::ALL {
            for tier in Tier::ALL.into_iter().filter(|tier| *tier > ceiling) {
                let got = ask(
                    Mode::Open,
                    ceiling,
                    tier,
                    Containment::Contained,
                    Sends::Inside,
                    Taint::CLEAN,
                );
                assert_eq!(got, Ruling::Refuse(Reason::OverCeiling), "{tier} under {ceiling}");
            }
        }
    }

    fn ask(
        mode: Mode,
        agent: Tier,
        tier: Tier,
        containment: Containment,
        sends: Sends,
        taint: Taint,
    ) -> Ruling {
        let standing =
            Standing { mode, ceiling: Ceiling::of(mode, None, agent, Consent::Absent), taint };
        let effects = Effects {
            reads: Reads::Private,
            takes_in: TakesIn::ByAnswer,
            sends,
            containment,
            site: EffectSite::Local,
        };
        rule(&standing, tier, &effects)
    }
}
