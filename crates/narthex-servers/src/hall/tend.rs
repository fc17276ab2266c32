//! Looking after what runs: idle ones are stopped, hung and ended ones taken away, lists followed;
//! and ending it all.

use std::sync::Arc;
use std::time::Duration;

use narthex_core::SwitchScope;
use tokio_util::sync::CancellationToken;

use super::slot::Slot;
use super::{HallInner, ServerHall, held};
use crate::config::ServerName;

impl ServerHall {
    /// Looks after what runs until told to stop. What still runs then is ended by
    /// [`ServerHall::end_all`], once nobody asks any more.
    pub async fn tend(&self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = tick.tick() => self.0.look_around().await,
            }
        }
    }

    /// Ends every connection of one server, and waits.
    pub async fn end(&self, name: &ServerName) {
        let slots = held(&self.0.slots).remove(name).unwrap_or_default();
        self.0.close(slots).await;
        held(&self.0.seen).remove(name);
        held(&self.0.watches).remove(name);
    }

    /// Ends every connection, and waits.
    pub async fn end_all(&self) {
        let slots = std::mem::take(&mut *held(&self.0.slots));
        self.0.close(slots.into_values().flatten().collect()).await;
        held(&self.0.seen).clear();
        held(&self.0.watches).clear();
    }
}

impl HallInner {
    /// One look at everything. Nothing here waits for a server: whoever takes long is looked after by
    /// a task of its own.
    async fn look_around(self: &Arc<Self>) {
        let store = &self.parts.store;
        let (Ok(book), Ok(switches)) = (store.servers().await, store.switches().await) else {
            return;
        };
        let file = self.sheet.now();
        for slot in self.all_slots() {
            let name = &slot.config.name;
            let standing = book.standings.get(name.slug());
            let named = file.as_ref().is_ok_and(|file| file.servers.contains_key(name));
            let stopped = |scope| switches.get(&scope).is_some();
            let stopped = stopped(SwitchScope::Everything)
                || stopped(SwitchScope::Upstream(name.slug().clone()));
            let welcome = book.on
                && named
                && !stopped
                && standing.is_some_and(|standing| !standing.disabled && standing.start.is_some());
            let Some(link) = slot.link() else {
                if !welcome {
                    self.forget(&slot);
                }
                continue;
            };
            let awaited = || self.watch_of(name, slot.whose).is_some_and(|w| w.is_awaited());
            let idle = link.idle().is_some_and(|idle| idle >= slot.config.limits.idle);
            if !welcome || (idle && !awaited()) {
                self.put_away(slot);
            } else if link.ended().is_some() || link.is_hung() {
                let hall = Arc::clone(self);
                self.tasks.spawn(async move {
                    let _alone = slot.opening.lock().await;
                    if slot.good_link().is_none() {
                        hall.clear(&slot).await;
                    }
                });
            } else if link.is_stale() {
                let (hall, standing) = (Arc::clone(self), standing.cloned().unwrap_or_default());
                self.tasks.spawn(async move {
                    let config = &slot.config;
                    if let Err(error) = hall.refresh(config, &standing, &link).await {
                        tracing::debug!(server = %config.name, %error, "its lists could not be read");
                    }
                });
            }
        }
    }

    /// Ends a connection that nobody needs; the next who asks opens it again.
    fn put_away(&self, slot: Arc<Slot>) {
        self.tasks.spawn(async move {
            let _alone = slot.opening.lock().await;
            if let Some((link, _)) = slot.take() {
                link.close().await;
            }
        });
    }

    fn forget(&self, slot: &Arc<Slot>) {
        let mut slots = held(&self.slots);
        if let Some(of_server) = slots.get_mut(&slot.config.name) {
            of_server.retain(|known| !Arc::ptr_eq(known, slot));
        }
    }

    async fn close(&self, slots: Vec<Arc<Slot>>) {
        let closing = slots.into_iter().map(|slot| async move {
            // Whoever is opening it now finishes first, and is ended then.
            let _alone = slot.opening.lock().await;
            if let Some((link, _)) = slot.take() {
                link.close().await;
            }
        });
        let tasks: Vec<_> = closing.map(|closing| self.tasks.spawn(closing)).collect();
        for task in tasks {
            // A task that panicked closed nothing; dropping the connection ends it.
            let _ = task.await;
        }
    }
}

const EVERY: Duration = Duration::from_millis(500);
