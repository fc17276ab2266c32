//! What the owner approves of other people's servers.

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
    standing: ServerStanding,
    texts: &[String],
) -> Result<Effected, Fault> {
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

pub(super) async fn profiles(
    bench: &mut Bench<'_>,
    agent: AgentId,
    profiles: Vec<Slug>,
) -> Result<Effected, Fault> {
    let known = bench.identity(&AGENTS, agent.as_bytes()).await?;
    known.ok_or(Fault::Refused(Refused::NotFound("agent")))?;
    bench.set_profiles(agent, profiles).await.map(Effected::Changed)
}
