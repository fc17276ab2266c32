//! Pages.

use narthex_core::{
    PageDraft, PageId, PageKey, PageSlug, PageView, Provenance, RevisionId, Space, Subject, Title,
};
use narthex_store::{
    Effect, Effected, ImportOutcome, ImportedPage, PageWrite, RevisionFilter, fresh_uuid,
};

use super::desk::{invalid, not_found};
use super::{Desk, Imported, MAX_IMPORT_BATCH, OwnerError, PageWritten, Reply};

/// The fields of a page that change.
pub(super) struct Edit {
    pub(super) base: Option<u32>,
    pub(super) slug: Option<String>,
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) tags: Option<Vec<String>>,
}

impl Desk {
    pub(super) async fn page_add(
        &self,
        space: &str,
        slug: Option<&str>,
        title: &str,
        body: String,
        tags: Vec<String>,
    ) -> Result<Reply, OwnerError> {
        let space = self.space_named(space).await?;
        let slug = match slug {
            Some(slug) => slug.parse(),
            None => PageSlug::from_title(title),
        };
        let title = Title::parse(title).map_err(invalid)?;
        let draft = PageDraft::new(slug.map_err(invalid)?, title, body, tags).map_err(invalid)?;
        self.write_page("page.add", &space, PageId::from_uuid(fresh_uuid()), None, draft).await
    }

    pub(super) async fn page_edit(
        &self,
        space: &str,
        page: &str,
        edit: Edit,
    ) -> Result<Reply, OwnerError> {
        let space = self.space_named(space).await?;
        let page = self.page_named(&space, page).await?.page;
        let old = page.draft;
        let slug = edit.slug.map_or(Ok(old.slug), |slug| slug.parse()).map_err(invalid)?;
        let title =
            edit.title.map_or(Ok(old.title), |title| Title::parse(&title)).map_err(invalid)?;
        let body = edit.body.unwrap_or(old.body);
        let draft =
            PageDraft::new(slug, title, body, edit.tags.unwrap_or(old.tags)).map_err(invalid)?;
        let base = edit.base.unwrap_or(page.revision);
        self.write_page("page.edit", &space, page.id, Some(base), draft).await
    }

    pub(super) async fn page_show(&self, space: &str, page: &str) -> Result<Reply, OwnerError> {
        let space = self.space_named(space).await?;
        Ok(Reply::Page(Box::new(self.page_named(&space, page).await?)))
    }

    pub(super) async fn page_history(&self, space: &str, page: &str) -> Result<Reply, OwnerError> {
        let space = self.space_named(space).await?;
        let id = match PageKey::parse(page) {
            Some(PageKey::Id(id)) => id,
            _ => self.page_named(&space, page).await?.page.id,
        };
        let revisions = self.store().revisions(space.id, id, RevisionFilter::All).await?;
        if revisions.is_empty() {
            return Err(no_page(&space, page));
        }
        Ok(Reply::Revisions(revisions))
    }

    pub(super) async fn page_list(
        &self,
        space: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Reply, OwnerError> {
        let space = self.space_named(space).await?;
        let pages = self.store().pages(space.id, after, limit.clamp(1, MAX_LIST)).await?;
        Ok(Reply::Pages(pages))
    }

    pub(super) async fn page_delete(&self, space: &str, page: &str) -> Result<Reply, OwnerError> {
        let space = self.space_named(space).await?;
        let page = self.page_named(&space, page).await?.page;
        let effect = Effect::DeletePage {
            space: space.id,
            page: page.id,
            base: page.revision,
            revision: RevisionId::from_uuid(fresh_uuid()),
            provenance: Provenance::OWNER,
            at: self.now(),
        };
        self.change("page.delete", Some(space.id), Subject::one("page", page.id), effect).await?;
        Ok(Reply::PageGone(written(page.id, &page.draft.slug, &space, page.revision)))
    }

    pub(super) async fn page_move(
        &self,
        space: &str,
        page: &str,
        to: &str,
    ) -> Result<Reply, OwnerError> {
        let from = self.space_named(space).await?;
        let to = self.space_named(to).await?;
        let page = self.page_named(&from, page).await?.page;
        let effect = Effect::MovePage { from: from.id, page: page.id, to: to.id, at: self.now() };
        self.change("page.move", Some(from.id), Subject::one("page", page.id), effect).await?;
        Ok(Reply::PageGone(written(page.id, &page.draft.slug, &to, page.revision)))
    }

    pub(super) async fn page_import(
        &self,
        space: &str,
        drafts: Vec<PageDraft>,
    ) -> Result<Reply, OwnerError> {
        if drafts.len() > MAX_IMPORT_BATCH {
            return Err(invalid(format!(
                "an import takes at most {MAX_IMPORT_BATCH} pages at a time"
            )));
        }
        let space = self.space_named(space).await?;
        let count = drafts.len() as u64;
        let fresh = |draft: PageDraft| -> Result<ImportedPage, OwnerError> {
            // What came over a socket is checked like everything else.
            let draft =
                PageDraft::new(draft.slug, draft.title, draft.body, draft.tags).map_err(invalid)?;
            Ok(ImportedPage {
                page: PageId::from_uuid(fresh_uuid()),
                revision: RevisionId::from_uuid(fresh_uuid()),
                draft,
            })
        };
        let pages = drafts.into_iter().map(fresh).collect::<Result<Vec<_>, _>>()?;
        let subject =
            Subject { kind: Some("page".to_owned()), count: Some(count), ..Subject::default() };
        let effect = Effect::ImportPages { space: space.id, pages, at: self.now() };
        let committed = self.change("page.import", Some(space.id), subject, effect).await?;
        match committed.effected {
            Effected::Imported(outcomes) => {
                Ok(Reply::Imported(outcomes.into_iter().map(Imported::from).collect()))
            }
            other => Err(unexpected(&other)),
        }
    }

    async fn write_page(
        &self,
        action: &str,
        space: &Space,
        page: PageId,
        base: Option<u32>,
        draft: PageDraft,
    ) -> Result<Reply, OwnerError> {
        let slug = draft.slug.clone();
        let effect = Effect::WritePage(PageWrite {
            page,
            space: space.id,
            draft,
            base,
            revision: RevisionId::from_uuid(fresh_uuid()),
            provenance: Provenance::OWNER,
            at: self.now(),
        });
        let committed =
            self.change(action, Some(space.id), Subject::one("page", page), effect).await?;
        match committed.effected {
            Effected::PageWritten { page, revision } => {
                Ok(Reply::PageWritten(written(page, &slug, space, revision)))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// A page of a space, by slug or id.
    pub(super) async fn page_named(
        &self,
        space: &Space,
        name: &str,
    ) -> Result<PageView, OwnerError> {
        let found = match PageKey::parse(name) {
            Some(key) => self.store().page(space.id, &key).await?,
            None => None,
        };
        found.ok_or_else(|| no_page(space, name))
    }
}

impl From<ImportOutcome> for Imported {
    fn from(outcome: ImportOutcome) -> Self {
        match outcome {
            ImportOutcome::Created => Self::Created,
            ImportOutcome::Updated => Self::Updated,
            ImportOutcome::Unchanged => Self::Unchanged,
        }
    }
}

fn no_page(space: &Space, name: &str) -> OwnerError {
    not_found("page", name, &format!("narthex page list --space {}", space.slug))
}

fn written(id: PageId, slug: &PageSlug, space: &Space, revision: u32) -> PageWritten {
    PageWritten { id, slug: slug.to_string(), space: space.slug.clone(), revision }
}

pub(super) fn unexpected(effected: &Effected) -> OwnerError {
    tracing::error!(?effected, "the store answered with something else");
    OwnerError {
        kind: super::Trouble::Internal,
        message: "the store answered with something else".to_owned(),
    }
}

/// Rows one list request may return.
const MAX_LIST: u32 = 1_000;
