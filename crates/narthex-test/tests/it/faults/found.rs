//! A house that is made while a fault is due: afterwards it can be made, and what was acknowledged is
//! there.

use std::path::Path;

use anyhow::{Context, ensure};
use narthex_server::owner::Request;
use narthex_test::{HouseOptions, TestHouse};

/// What was told while it was made.
#[derive(Debug, Default)]
pub(super) struct Founded {
    /// The space was acknowledged.
    space: bool,
    /// It went through to the end without an error.
    pub(super) complete: bool,
}

impl Founded {
    /// Goes as far as it gets; what fails is no fault of the test.
    pub(super) async fn run(path: &Path) -> Self {
        let Ok(house) = TestHouse::open(path, HouseOptions::default()).await else {
            return Self::default();
        };
        let made = house.owner(Request::SpaceAdd { slug: "a".to_owned(), name: None }).await;
        let closed = house.stop().await;
        let space = made.is_ok();
        Self { space, complete: space && closed.is_ok() }
    }

    /// What must be true afterwards, whatever failed.
    pub(super) async fn check(&self, path: &Path) -> anyhow::Result<()> {
        let opened = TestHouse::open(path, HouseOptions::default()).await;
        let house = opened.context("no house can be made there any more")?;
        house.verify().await.context("the ledger")?;
        let kept = house.store().space_by_slug(&"a".parse()?).await?;
        ensure!(kept.is_some() || !self.space, "a space was acknowledged and is gone");
        house.stop().await?;
        Ok(())
    }
}
