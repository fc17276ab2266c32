//! What the owner approves of other people's servers.

use std::collections::BTreeMap;

use narthex_core::{AgentId, Digest, ServerStanding, Slug};
use narthex_store::{Effected, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::identity::AGENTS;

pub(super) async fn switch(bench: &mut Bench<'_>, on: bool) -> Result<Effected, Fault> {
    bench.switch_servers(on).await.map(Effected::Changed)
}

/// What is approved, and the texts of it. A text is found by its digest, so it needs no MAC.
pub(super) async fn set(
    bench: &mut Bench<'_>,
    name: Slug,
    mut standing: ServerStanding,
    texts: &[String],
) -> Result<Effected, Fault> {
    if let Some(was) = bench.gate.servers().standings.get(&name).filter(|_| !standing.is_blank()) {
        standing.rules.clone_from(&was.rules);
    }
    for text in texts {
        sqlx::query(
            "INSERT INTO definitions (digest, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )
        .bind(Digest::of(text.as_bytes()).as_bytes().as_slice())
        .bind(text)
        .execute(&mut *bench.conn)
        .await?;
    }
    bench.set_server(name, standing).await.map(Effected::Changed)
}

/// What the owner's file says. It is noted of what is approved now, whatever that was when the file was
/// read.
pub(super) async fn note_rules(
    bench: &mut Bench<'_>,
    name: Slug,
    rules: BTreeMap<String, String>,
) -> Result<Effected, Fault> {
    let Some(was) = bench.gate.servers().standings.get(&name) else {
        return Ok(Effected::Changed(false));
    };
    let standing = ServerStanding { rules, ..ServerStanding::clone(was) };
    bench.set_server(name, standing).await.map(Effected::Changed)
}

pub(super) async fn profiles(
    bench: &mut Bench<'_>,
    agent: AgentId,
    profiles: Vec<Slug>,
) -> Result<Effected, Fault> {
    let known = bench.identity(&AGENTS, agent.as_bytes()).await?;
    known.ok_or(Fault::Refused(Refused::NotFound("agent")))?;
    bench.set_profiles(agent, profiles).await.map(Effected::Changed)
}
