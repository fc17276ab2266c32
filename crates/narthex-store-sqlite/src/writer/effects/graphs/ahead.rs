//! Pages of rows, the next one fetched while the one before is written.

use narthex_store::{Refused, RowPages, RowWrite, RowWrites};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::fault::Fault;

type Next = (RowPages, Option<Result<Vec<RowWrite>, narthex_store::StoreError>>);

/// Pages that come one after the other.
pub(super) enum Ahead {
    /// All there is, on one page.
    Listed(RowPages),
    /// More to come.
    Fetching(JoinHandle<Next>),
    /// No more.
    Over,
}

impl Ahead {
    pub(super) fn of(rows: RowWrites) -> Self {
        match rows {
            listed @ RowWrites::Listed(_) => Self::Listed(listed.into_pages()),
            source @ RowWrites::Source(_) => fetch(source.into_pages()),
        }
    }

    pub(super) async fn next(&mut self) -> Result<Option<Vec<RowWrite>>, Fault> {
        let unread = || Fault::from(Refused::UnfitCommit("its rows cannot be read"));
        let page = match std::mem::replace(self, Self::Over) {
            Self::Listed(mut pages) => {
                let page = pages.next();
                *self = Self::Listed(pages);
                page
            }
            Self::Fetching(fetching) => {
                let (pages, page) = fetching.await.map_err(|_| unread())?;
                if page.is_some() {
                    *self = fetch(pages);
                }
                page
            }
            Self::Over => None,
        };
        page.transpose().map_err(|_| unread())
    }
}

fn fetch(mut pages: RowPages) -> Ahead {
    Ahead::Fetching(spawn_blocking(move || {
        let page = pages.next();
        (pages, page)
    }))
}
