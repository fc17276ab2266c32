//! Servers as their owner sees them.

use std::collections::BTreeMap;

use narthex_core::{Slug, Subject};
use narthex_servers::config::{Limits, Preset, Reach, ServerConfig, ServerName, ServersFile};
use narthex_servers::hall::{Item, Offered, Ready, ServerState, Stands, View, Whose};
use narthex_servers::pin::{Definition, Start, diff_texts};
use narthex_servers::sanitise::description;
use narthex_servers::scan::Finding;
use narthex_servers::text::visible;

use super::super::{
    DefinitionShown, Desk, FindingShown, OfferShown, OwnerError, ServerDetail, ServerLog,
    ServerReply, ServerShown, ServerStatus, ServersListed, ServersStatus, StartShown,
};

impl Desk {
    pub(super) async fn servers_list(&self) -> Result<ServerReply, OwnerError> {
        let file = self.servers.sheet()?;
        let mut servers = Vec::new();
        for name in file.servers.keys() {
            let view = self.servers.owners_view(name).await?;
            servers.push(self.shown(&view, &file));
        }
        let warnings = file.warnings.iter().map(|warning| visible(&warning.to_string())).collect();
        let file = self.servers.file().display().to_string();
        Ok(ServerReply::Servers(ServersListed { file, servers, warnings }))
    }

    /// How they are, if they are on.
    pub(in super::super) async fn servers_status(
        &self,
    ) -> Result<Option<ServersStatus>, OwnerError> {
        if !self.servers.book().await?.on {
            return Ok(None);
        }
        let (servers, trouble) = match self.servers.sheet() {
            Ok(file) => (file.servers.keys().map(|name| self.server_status(name)).collect(), None),
            Err(fault) => (Vec::new(), Some(fault.to_string())),
        };
        Ok(Some(ServersStatus { servers, trouble }))
    }

    fn server_status(&self, name: &ServerName) -> ServerStatus {
        let state = self.servers.state(name);
        let error = match &state {
            ServerState::Error(why) => Some(visible(why)),
            _ => None,
        };
        ServerStatus { name: name.to_string(), state: state.as_str().to_owned(), error }
    }

    fn shown(&self, view: &View, file: &ServersFile) -> ServerShown {
        let config = &view.config;
        let ServerStatus { name, state, error } = self.server_status(&config.name);
        let off = view.standing.disabled || config.disabled;
        let start = match view.standing.start {
            _ if off => "disabled",
            Some(_) => "yes",
            None => "no",
        };
        let seen = self.servers.seen(&config.name);
        let waiting = seen.map(|seen| waiting(&seen, view).count());
        let has = |(_, profile): &(&Slug, &narthex_servers::profile::Profile)| {
            profile.servers.contains(&config.name)
        };
        ServerShown {
            name,
            kind: kind(config).to_owned(),
            state,
            error,
            start: start.to_owned(),
            approved: view.standing.definitions.len(),
            waiting,
            profiles: file.profiles.iter().filter(has).map(|(name, _)| name.clone()).collect(),
        }
    }

    pub(super) async fn server_info(&self, name: &str) -> Result<ServerReply, OwnerError> {
        let view = self.server_named(name).await?;
        let file = self.servers.sheet()?;
        let (start, trouble) = match self.servers.ready(&view).await {
            Ok(ready) => (self.start_shown(&view, &ready).await?, None),
            Err(fault) => (as_written(&view.config), Some(fault.to_string())),
        };
        Ok(ServerReply::Server(Box::new(ServerDetail {
            server: self.shown(&view, &file),
            start,
            trouble,
            definitions: view.standing.definitions.keys().cloned().collect(),
            stateless: view.config.stateless,
            limits: limits(&view.config.limits),
            tier: view.config.rule.tier,
        })))
    }

    async fn start_shown(&self, view: &View, ready: &Ready) -> Result<StartShown, OwnerError> {
        let mut shown = as_written(&view.config);
        if let Some(found) = &ready.found {
            shown.program = Some(visible(&found.program.real.display().to_string()));
            shown.sha256 = Some(found.program.sha256);
            let also = found.interpreter.iter().chain(&found.scripts);
            let also = also.map(|file| (visible(&file.real.display().to_string()), file.sha256));
            shown.also = also.collect();
            shown.uncovered = found.uncovered().map(str::to_owned);
        }
        let digest = ready.start.digest();
        shown.digest = Some(digest);
        let stands = match view.standing.start {
            None => "new",
            Some(approved) if approved == digest => "approved",
            Some(approved) => {
                let text = self.store().definition(approved).await?;
                let before = text.as_deref().and_then(Start::read_pinned);
                shown.diff = before.map(|before| ready.start.diff(&before));
                "changed"
            }
        };
        stands.clone_into(&mut shown.stands);
        Ok(shown)
    }

    pub(super) async fn server_look(&self, name: &str) -> Result<ServerReply, OwnerError> {
        let view = self.server_named(name).await?;
        let offered = self.servers.look(&view).await?;
        let subject = Subject::one("server", &view.config.name);
        let record = super::super::desk::owner_record(
            "server.look",
            None,
            subject,
            narthex_core::Outcome::Ok,
            narthex_core::Reason::OwnerAction,
        );
        self.store().commit(narthex_store::UnitOfWork::records(vec![record])).await?;
        Ok(ServerReply::Offer(Box::new(self.offer_shown(&view, &offered).await?)))
    }

    async fn offer_shown(&self, view: &View, offered: &Offered) -> Result<OfferShown, OwnerError> {
        let approved = self.servers.approved(&view.standing).await?;
        let approved: BTreeMap<_, _> =
            approved.into_iter().map(|d| (d.key.definition_name(), d)).collect();
        let definitions = offered
            .items()
            .map(|(name, item)| {
                let stands = item.stands(name, &view.standing);
                let before = approved.get(name).filter(|_| stands == Stands::Changed);
                definition_shown(name.clone(), item, stands, before)
            })
            .collect();
        let gone = view.standing.definitions.keys().filter(|name| offered.get(name).is_none());
        Ok(OfferShown {
            server: view.config.name.to_string(),
            revision: visible(&offered.greeting.revision),
            definitions,
            refused: offered.report.refused.iter().map(finding).collect(),
            gone: gone.cloned().collect(),
        })
    }

    pub(super) async fn server_logs(&self, name: &str) -> Result<ServerReply, OwnerError> {
        let view = self.server_named(name).await?;
        let mut logs = Vec::new();
        for (whose, lines) in self.servers.said(&view.config.name) {
            let whose = match whose {
                Whose::Owner => "owner".to_owned(),
                Whose::Everyone => "everyone".to_owned(),
                Whose::Agent(id) => {
                    let agent = self.store().agent(id).await?;
                    agent.map_or_else(|| id.to_string(), |agent| agent.slug.to_string())
                }
            };
            logs.push(ServerLog { whose, lines });
        }
        Ok(ServerReply::Logs(logs))
    }
}

/// What is offered and not approved as it is.
pub(super) fn waiting<'a>(
    offered: &'a Offered,
    view: &'a View,
) -> impl Iterator<Item = &'a narthex_core::DefinitionName> {
    let waits = |(name, item): &(&narthex_core::DefinitionName, &Item)| {
        item.stands(name, &view.standing) != Stands::Approved && item.barred.is_none()
    };
    offered.items().filter(waits).map(|(name, _)| name)
}

fn definition_shown(
    name: narthex_core::DefinitionName,
    item: &Item,
    stands: Stands,
    before: Option<&Definition>,
) -> DefinitionShown {
    let definition = &item.definition;
    let said = definition.value.get("description").unwrap_or(&definition.value);
    let said = said.as_str().map(description).unwrap_or_default();
    DefinitionShown {
        name,
        digest: definition.digest,
        stands: match stands {
            Stands::Approved => "approved",
            Stands::Changed => "changed",
            Stands::New => "new",
        }
        .to_owned(),
        description: visible(&said),
        text: visible(&definition.text),
        diff: before.map(|before| diff_texts(&before.text, &definition.text)),
        findings: item.findings.iter().map(finding).collect(),
        quarantined: item.is_quarantined(),
        barred: item.barred.clone(),
    }
}

fn finding(found: &Finding) -> FindingShown {
    FindingShown {
        code: found.code.as_str().to_owned(),
        severity: found.severity.as_str().to_owned(),
        place: found.place.clone(),
        text: found.text.clone(),
    }
}

const fn kind(config: &ServerConfig) -> &'static str {
    match config.reach {
        Reach::Process(_) => "stdio",
        Reach::Http(_) => "http",
    }
}

/// What the file says of a start, before anything is looked up.
fn as_written(config: &ServerConfig) -> StartShown {
    let mut shown = StartShown { stands: "new".to_owned(), ..StartShown::default() };
    match &config.reach {
        Reach::Process(process) => {
            let words = std::iter::once(process.command.as_str())
                .chain(process.args.iter().map(narthex_servers::config::Written::as_written));
            shown.line = words.map(quoted).collect::<Vec<_>>().join(" ");
            shown.cwd = process.cwd.as_ref().map(|cwd| visible(&cwd.display().to_string()));
            shown.names = process.env.iter().map(|(name, _)| name.clone()).collect();
            shown.walls = walls(config);
        }
        Reach::Http(http) => {
            shown.line = visible(http.url.as_written());
            shown.names = http.headers.iter().map(|(name, _)| name.clone()).collect();
            shown.auth = Some(auth(http.auth.as_ref()).to_owned());
            "none of ours: it is not on this machine".clone_into(&mut shown.walls);
        }
    }
    shown
}

/// A word of a command line, so that it is seen where it begins and ends.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,${}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", visible(word).replace('\'', "'\\''"))
}

const fn auth(auth: Option<&narthex_servers::config::Auth>) -> &'static str {
    match auth {
        None => "none",
        Some(narthex_servers::config::Auth::Bearer(_)) => "bearer token",
        Some(narthex_servers::config::Auth::OAuth(_)) => "OAuth",
    }
}

fn walls(config: &ServerConfig) -> String {
    let walls = &config.walls;
    if walls.preset == Preset::None {
        return "none: it runs with all of your permissions".to_owned();
    }
    let list = |paths: &[std::path::PathBuf]| {
        let shown: Vec<String> = paths.iter().map(|p| visible(&p.display().to_string())).collect();
        if shown.is_empty() { "nothing more".to_owned() } else { shown.join(", ") }
    };
    let network = if walls.network { "the network" } else { "no network" };
    format!(
        "{}: it reads the system and {}, changes {}, and has {network}",
        walls.preset.as_str(),
        list(&walls.read),
        list(&walls.write),
    )
}

fn limits(limits: &Limits) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    vec![
        row("a call", format!("{:?}", limits.call)),
        row("connecting", format!("{:?}", limits.connect)),
        row("a result", format!("{} bytes", limits.result_bytes)),
        row("a line", format!("{} bytes", limits.line_bytes)),
        row("restarts", limits.restarts.to_string()),
        row("idle", format!("{:?}", limits.idle)),
        row("questions at once", limits.questions.to_string()),
    ]
}
