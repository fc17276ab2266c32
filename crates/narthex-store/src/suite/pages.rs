//! Pages: written, linked, deleted, moved, listed.

use narthex_core::{Author, PageId, PageKey, PageRef, Provenance, SpaceId, Taint};

use super::Backend;
use super::house::{House, at, delete_page, draft, move_page, new_page, page_slug, tagged, title};
use crate::{Effect, Effected, PageWrite, Refused, RevisionFilter, fresh_uuid};

pub async fn a_page_reads_back_as_written(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let says = tagged("guides/set-up", "Set up", "First, *this*.\n", &["b", "a", "b"]);
    let provenance = Provenance {
        author: Author::Agent(house.agent.id),
        proposal: None,
        taint: Taint { private: true, untrusted: true },
    };
    let write = PageWrite { provenance, ..new_page(house.a, says.clone()) };
    let effected = house.done(Effect::WritePage(write.clone())).await;
    assert_eq!(effected, Effected::PageWritten { page: write.page, revision: 1 });

    let page = house.page(house.a, "guides/set-up").await;
    assert_eq!((page.id, page.space, page.revision), (write.page, house.a, 1));
    assert_eq!(page.draft, says);
    assert_eq!(page.draft.tags, ["a", "b"]);
    assert_eq!(page.provenance, provenance);
    assert!(page.foreign_history);
    assert_eq!((page.created, page.updated), (at(2_000), at(2_000)));
    let by_id = house.store.page(house.a, &PageKey::Id(write.page)).await.unwrap();
    assert_eq!(by_id.map(|view| view.page), Some(page));
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 1);
}

/// A back end may remember what it read; nobody may notice.
pub async fn what_was_read_is_read_anew_after_every_change(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let home = house.write(house.a, "home", "Home", "one").await;
    let by_id = PageKey::Id(home);
    let read = async |space| house.store.page(space, &by_id).await.unwrap();
    assert_eq!(read(house.a).await.map(|view| view.page.draft.body).as_deref(), Some("one"));
    house.revise(house.a, home, 1, draft("home", "Home", "two")).await;
    assert_eq!(read(house.a).await.map(|view| view.page.draft.body).as_deref(), Some("two"));
    assert_eq!(house.page(house.a, "home").await.draft.body, "two");
    // Another page changes what links to this one, and what this one's links are called.
    let other = house.write(house.a, "other", "Other", "[[home]]").await;
    assert_eq!(read(house.a).await.map(|view| view.backlinks.len()), Some(1));
    house.done(delete_page(house.a, other, 1)).await;
    assert_eq!(read(house.a).await.map(|view| view.backlinks.len()), Some(0));
    let pages = vec![crate::ImportedPage {
        page: PageId::from_uuid(fresh_uuid()),
        revision: narthex_core::RevisionId::from_uuid(fresh_uuid()),
        draft: draft("home", "Home", "three"),
    }];
    house.done(Effect::ImportPages { space: house.a, pages, at: at(3_000) }).await;
    assert_eq!(read(house.a).await.map(|view| view.page.draft.body).as_deref(), Some("three"));
    house.done(move_page(house.a, home, house.b)).await;
    assert!(read(house.a).await.is_none());
    assert!(read(house.b).await.is_some());
    house.done(delete_page(house.b, home, 3)).await;
    assert!(read(house.b).await.is_none());
}

pub async fn a_page_without_its_space_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let nowhere = SpaceId::from_uuid(fresh_uuid());
    let write = new_page(nowhere, draft("home", "Home", ""));
    assert_eq!(house.refused(Effect::WritePage(write)).await, Refused::NotFound("space"));
}

pub async fn a_taken_slug_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let first = house.write(house.a, "home", "Home", "one").await;
    let second = house.write(house.a, "away", "Away", "two").await;

    let again = new_page(house.a, draft("home", "Home", "three"));
    assert_eq!(house.refused(Effect::WritePage(again)).await, Refused::Taken("slug"));
    let renamed = PageWrite {
        page: second,
        base: Some(1),
        ..new_page(house.a, draft("home", "Away", "two"))
    };
    assert_eq!(house.refused(Effect::WritePage(renamed)).await, Refused::Taken("slug"));
    let same_id = PageWrite { page: first, ..new_page(house.a, draft("new", "New", "")) };
    assert_eq!(house.refused(Effect::WritePage(same_id)).await, Refused::Taken("id"));
    assert_eq!(house.page(house.a, "home").await.draft.body, "one");
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 2);
}

pub async fn a_revision_needs_the_one_before(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    house.revise(house.a, page, 1, draft("home", "Home", "two")).await;
    for expected in [0, 1, 3, u32::MAX] {
        let write = PageWrite {
            page,
            base: Some(expected),
            ..new_page(house.a, draft("home", "Home", "three"))
        };
        let refused = house.refused(Effect::WritePage(write)).await;
        assert_eq!(refused, Refused::Stale { expected, is: 2 });
    }
    assert_eq!(house.page(house.a, "home").await.draft.body, "two");
    let absent = PageWrite { base: Some(1), ..new_page(house.a, draft("x", "X", "")) };
    assert_eq!(house.refused(Effect::WritePage(absent)).await, Refused::NotFound("page"));
}

pub async fn a_page_can_change_its_slug(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "old", "Name", "text").await;
    house.revise(house.a, page, 1, draft("new", "Name", "text")).await;
    assert!(house.view(house.a, "old").await.is_none());
    assert_eq!(house.page(house.a, "new").await.id, page);
    house.write(house.a, "old", "Another", "the slug is free again").await;
}

pub async fn links_and_backlinks_follow_the_text(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let home = house.write(house.a, "home", "Home", "[[zoo]] [[away|x]] [[nowhere]]").await;
    house.write(house.a, "away", "Away", "[[home]]").await;
    house.write(house.a, "zoo", "Zoo", "[[home]] and [[away]]").await;

    let view = house.view(house.a, "home").await.unwrap();
    assert_eq!(view.links, refs(&[("away", "Away"), ("nowhere", ""), ("zoo", "Zoo")]));
    assert_eq!(view.backlinks, refs(&[("away", "Away"), ("zoo", "Zoo")]));

    house.revise(house.a, home, 1, draft("home", "Home", "[[away]]")).await;
    assert!(house.view(house.a, "zoo").await.unwrap().backlinks.is_empty());
    assert_eq!(house.view(house.a, "home").await.unwrap().links, refs(&[("away", "Away")]));
    house.done(delete_page(house.a, home, 2)).await;
    let away = house.view(house.a, "away").await.unwrap();
    assert_eq!(away.links, refs(&[("home", "")]));
    assert_eq!(away.backlinks, refs(&[("zoo", "Zoo")]));
}

pub async fn a_deleted_page_leaves_its_history(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    house.revise(house.a, page, 1, draft("home", "Home", "two")).await;
    let effected = house.done(delete_page(house.a, page, 2)).await;
    assert_eq!(effected, Effected::PageDeleted { page });

    assert!(house.view(house.a, "home").await.is_none());
    assert!(house.store.page(house.a, &PageKey::Id(page)).await.unwrap().is_none());
    let revisions = house.store.revisions(house.a, page, RevisionFilter::All).await.unwrap();
    let told: Vec<_> = revisions
        .iter()
        .map(|r| (r.revision, r.draft.as_ref().map(|draft| draft.body.as_str())))
        .collect();
    assert_eq!(told, [(3, None), (2, Some("two")), (1, Some("one"))]);
    // The slug is free, and the old id is not brought back to life.
    house.write(house.a, "home", "Home", "another").await;
    let revived = PageWrite { page, ..new_page(house.a, draft("revived", "Revived", "")) };
    assert_eq!(house.refused(Effect::WritePage(revived)).await, Refused::Taken("id"));
}

pub async fn deleting_needs_the_revision_that_was_seen(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let stale = house.refused(delete_page(house.a, page, 2)).await;
    assert_eq!(stale, Refused::Stale { expected: 2, is: 1 });
    let absent = PageId::from_uuid(fresh_uuid());
    let refused = house.refused(delete_page(house.a, absent, 1)).await;
    assert_eq!(refused, Refused::NotFound("page"));
}

pub async fn moving_takes_everything_along(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "wandering words [[friend]]").await;
    house.write(house.a, "friend", "Friend of a", "").await;
    house.write(house.b, "friend", "Friend of b", "").await;
    house.revise(house.a, page, 1, draft("home", "Home", "wandering text [[friend]]")).await;
    house.done(move_page(house.a, page, house.b)).await;

    assert!(house.view(house.a, "home").await.is_none());
    assert!(house.found(house.a, "wandering").await.is_empty());
    assert_eq!(house.store.revisions(house.a, page, RevisionFilter::All).await.unwrap(), []);
    assert!(house.view(house.a, "friend").await.unwrap().backlinks.is_empty());

    let view = house.view(house.b, "home").await.unwrap();
    assert_eq!((view.page.id, view.page.space, view.page.revision), (page, house.b, 2));
    assert_eq!(view.links, refs(&[("friend", "Friend of b")]));
    assert_eq!(house.found(house.b, "wandering").await, ["home"]);
    let history = house.store.revisions(house.b, page, RevisionFilter::All).await.unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(house.view(house.b, "friend").await.unwrap().backlinks, refs(&[("home", "Home")]));
}

pub async fn moving_is_refused_where_the_slug_is_taken(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "mine").await;
    house.write(house.b, "home", "Home", "yours").await;
    assert_eq!(house.refused(move_page(house.a, page, house.b)).await, Refused::Taken("slug"));
    assert_eq!(house.refused(move_page(house.b, page, house.a)).await, Refused::NotFound("page"));
    let nowhere = SpaceId::from_uuid(fresh_uuid());
    assert_eq!(house.refused(move_page(house.a, page, nowhere)).await, Refused::NotFound("space"));
    assert_eq!(house.page(house.a, "home").await.draft.body, "mine");
    assert_eq!(house.found(house.a, "mine").await, ["home"]);
}

pub async fn moving_to_where_it_is_changes_nothing(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "mine").await;
    let before = house.view(house.a, "home").await;
    house.done(move_page(house.a, page, house.a)).await;
    assert_eq!(house.view(house.a, "home").await, before);
}

pub async fn listing_goes_by_slug_and_in_steps(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for slug in ["d", "a", "c", "b"] {
        house.write(house.a, slug, "Title", "").await;
    }
    house.write(house.b, "bb", "Title", "").await;
    let slugs = async |after: Option<&str>, limit: u32| -> Vec<String> {
        let pages = house.store.pages(house.a, after, limit).await.unwrap();
        pages.into_iter().map(|page| page.slug.to_string()).collect()
    };
    assert_eq!(slugs(None, 100).await, ["a", "b", "c", "d"]);
    assert_eq!(slugs(None, 2).await, ["a", "b"]);
    assert_eq!(slugs(Some("b"), 2).await, ["c", "d"]);
    assert_eq!(slugs(Some("bx"), 1).await, ["c"]);
    assert!(slugs(Some("d"), 2).await.is_empty());
    assert!(slugs(None, 0).await.is_empty());
}

pub async fn recent_pages_come_newest_first(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for (slug, when) in [("first", 10), ("third", 30), ("second", 20)] {
        let write = PageWrite { at: at(when), ..new_page(house.a, draft(slug, "Title", "")) };
        house.done(Effect::WritePage(write)).await;
    }
    let recent = house.store.recent_pages(house.a, 2).await.unwrap();
    let slugs: Vec<&str> = recent.iter().map(|page| page.slug.as_str()).collect();
    assert_eq!(slugs, ["third", "second"]);
}

pub async fn revisions_can_be_asked_for_one_by_one(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    house.revise(house.a, page, 1, draft("home", "Home", "two")).await;
    let one = house.store.revisions(house.a, page, RevisionFilter::Number(1)).await.unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].draft.as_ref().map(|draft| draft.body.as_str()), Some("one"));
    assert_eq!((one[0].page, one[0].provenance), (page, Provenance::OWNER));
    let none = house.store.revisions(house.a, page, RevisionFilter::Number(9)).await.unwrap();
    assert!(none.is_empty());
}

/// An empty title is a page that does not exist.
fn refs(expected: &[(&str, &str)]) -> Vec<PageRef> {
    expected
        .iter()
        .map(|(slug, name)| PageRef {
            slug: page_slug(slug),
            title: (!name.is_empty()).then(|| title(name)),
            foreign: false,
        })
        .collect()
}
