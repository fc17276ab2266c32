//! Mode, ceiling and consent, end to end, beside the table in `narthex-core`.

use narthex_core::{
    Ceiling, Consent, Containment, EffectSite, Effects, Mode, Reads, Reason, Ruling, Sends,
    Standing, Taint, TakesIn, Tier, rule,
};
use narthex_store::{Effect, UnitOfWork, fresh_uuid};
use narthex_test::{Era, HouseOptions, TestHouse};
use serde_json::{Value, json};

/// What a client may say about its consent: nothing, a tier, or something that is none.
fn consents() -> Vec<Option<Value>> {
    let tiers = Tier::ALL.map(|tier| Some(json!(tier.as_str())));
    let malformed = [
        json!(null),
        json!(""),
        json!("t1"),
        json!(" T1"),
        json!("T1 "),
        json!("T4"),
        json!("T9"),
        json!(1),
        json!(true),
        json!(["T3"]),
        json!({"tier": "T3"}),
        json!("open"),
        json!("T1\u{0}"),
    ];
    std::iter::once(None).chain(tiers).chain(malformed.map(Some)).collect()
}

#[tokio::test]
async fn every_mode_ceiling_and_consent_end_to_end_as_the_table_says() -> anyhow::Result<()> {
    for mode in Mode::ALL {
        let house = TestHouse::with(HouseOptions { mode, ..HouseOptions::default() }).await?;
        for tier in Tier::ALL {
            let slug = format!("at-{}", tier.as_str().to_lowercase());
            let agent = house.agent(&slug, "a", &["read", "suggest"], tier).await?;
            for (n, said) in consents().into_iter().enumerate() {
                let agent = agent.speaking(Era::ALL[n % 2]);
                let mut listed = vec!["search", "read", "context"];
                for (tool, tier_of, arguments) in [
                    ("context", Tier::T0, json!({})),
                    ("propose_change", Tier::T1, create(&format!("page-{n}"))),
                ] {
                    let ceiling = Ceiling::of(mode, None, tier, Consent::parse(said.as_ref()));
                    let standing = Standing { mode, ceiling, taint: Taint::CLEAN };
                    let expected = rule(&standing, tier_of, &effects(tier_of));
                    let answer = match &said {
                        None => agent.call(tool, arguments).await?,
                        Some(said) => agent.call_consenting(said.clone(), tool, arguments).await?,
                    };
                    let got = match answer.tool_code().as_deref() {
                        None if answer.is_ok() => Ruling::Allow,
                        Some("over_mode") => Ruling::Refuse(Reason::OverMode),
                        Some("over_ceiling") => Ruling::Refuse(Reason::OverCeiling),
                        other => anyhow::bail!("{other:?}: {answer:?}"),
                    };
                    assert_eq!(got, expected, "{mode} {tier} {said:?} {tool}");
                    if tool == "propose_change" && got == Ruling::Allow {
                        listed.push(tool);
                    }
                }
                let mut params = json!({});
                if let Some(said) = &said {
                    params["_meta"]["narthex/consentCeiling"] = said.clone();
                }
                let shown = agent.request("tools/list", params).await?.tool_names();
                assert_eq!(shown, listed, "{mode} {tier} {said:?}");
            }
        }
        house.verify().await?;
    }
    Ok(())
}

/// Over HTTP nothing remembers: a limit given once holds once, and a limit that could not be
/// kept is refused rather than forgotten.
#[tokio::test]
async fn consent_holds_for_its_request_and_is_refused_where_it_could_not_be_kept()
-> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.agent("careful", "a", &["read", "suggest"], Tier::T1).await?;
    let lowered = agent.call_consenting(json!("T0"), "propose_change", create("one")).await?;
    assert_eq!(lowered.tool_code().as_deref(), Some("over_ceiling"), "{lowered:?}");
    assert!(agent.call("propose_change", create("one")).await?.is_ok());
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "consentCeiling": "T0",
        "clientInfo": {"name": "t", "version": "1"}});
    let answer = agent.speaking(Era::Legacy).request("initialize", hello).await?;
    assert_eq!(answer.rpc_code(), Some(-32602), "{answer:?}");
    Ok(())
}

/// A space may have a ceiling of its own, under which even an agent at T3 stays.
#[tokio::test]
async fn a_space_with_a_ceiling_lowers_everyone_in_it() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let space = narthex_core::Space {
        id: narthex_core::SpaceId::from_uuid(fresh_uuid()),
        slug: "quiet".parse()?,
        name: narthex_core::Title::parse("Quiet")?,
        ceiling: Some(Tier::T0),
        created: narthex_core::Timestamp::from_millis(0),
    };
    let effect = Some(Effect::AddSpace(space));
    house.store().commit(UnitOfWork { effect, ..UnitOfWork::default() }).await?;
    let agent = house.agent("loud", "quiet", &["read", "suggest"], Tier::T3).await?;
    assert_eq!(agent.tools().await?, ["search", "read", "context"]);
    let answer = agent.call("propose_change", create("one")).await?;
    assert_eq!(answer.tool_code().as_deref(), Some(Reason::OverCeiling.code()), "{answer:?}");
    Ok(())
}

fn create(slug: &str) -> Value {
    let payload = json!({"slug": slug, "title": slug});
    json!({"entity_type": "page", "action": "create", "payload": payload, "reason": "because"})
}

fn effects(tier: Tier) -> Effects {
    Effects {
        reads: Reads::Private,
        takes_in: TakesIn::Owned,
        sends: Sends::Inside,
        containment: Containment::Contained,
        site: if tier == Tier::T0 { EffectSite::Observe } else { EffectSite::Local },
    }
}
