//! What is in one space cannot be seen, reached or guessed from another.

use narthex_core::{PageId, PageKey, RevisionId, SpaceId};

use super::Backend;
use super::house::{House, at, creation, delete_page, draft, move_page, new_page, update};
use crate::{
    Effect, ImportedPage, PageWrite, ProposalFilter, Refused, RevisionFilter, SearchQuery,
    fresh_uuid,
};

pub async fn the_same_slug_lives_in_two_spaces(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let in_a = house.write(house.a, "home", "Home of a", "text of a").await;
    let in_b = house.write(house.b, "home", "Home of b", "text of b").await;
    house.revise(house.b, in_b, 1, draft("home", "Home of b", "newer text of b")).await;
    assert_eq!(house.page(house.a, "home").await.id, in_a);
    assert_eq!(house.page(house.a, "home").await.draft.body, "text of a");
    assert_eq!(house.page(house.b, "home").await.draft.body, "newer text of b");
    house.done(delete_page(house.a, in_a, 1)).await;
    assert!(house.view(house.a, "home").await.is_none());
    assert_eq!(house.page(house.b, "home").await.id, in_b);
}

pub async fn ids_of_another_space_are_not_found(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.b, "secret", "Secret", "hidden").await;
    assert!(house.store.page(house.a, &PageKey::Id(page)).await.unwrap().is_none());
    let revisions = house.store.revisions(house.a, page, RevisionFilter::All).await.unwrap();
    assert!(revisions.is_empty());
    assert!(house.store.pages(house.a, None, 10).await.unwrap().is_empty());
    assert!(house.store.recent_pages(house.a, 10).await.unwrap().is_empty());
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 0);

    house.propose(&creation(&house.other, draft("idea", "Idea", ""))).await;
    let filter = ProposalFilter { space: Some(house.a), limit: 10, ..ProposalFilter::default() };
    assert!(house.store.proposals(&filter).await.unwrap().is_empty());
}

pub async fn effects_cannot_reach_into_another_space(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.b, "secret", "Secret", "hidden").await;
    let before = house.view(house.b, "secret").await;
    let not_found = Refused::NotFound("page");

    let write = PageWrite { page, base: Some(1), ..new_page(house.a, draft("x", "X", "mine")) };
    assert_eq!(house.refused(Effect::WritePage(write)).await, not_found);
    assert_eq!(house.refused(delete_page(house.a, page, 1)).await, not_found);
    assert_eq!(house.refused(move_page(house.a, page, house.b)).await, not_found);
    let proposal = Box::new(update(&house.agent, page, 1, draft("x", "X", "mine")));
    assert_eq!(house.refused(Effect::OpenProposal { proposal, cap: 9 }).await, not_found);
    assert_eq!(house.view(house.b, "secret").await, before);
}

pub async fn links_and_titles_stay_inside(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "home", "Home", "[[secret]] [[shared]]").await;
    house.write(house.a, "shared", "Shared in a", "").await;
    house.write(house.b, "secret", "Secret title", "[[home]] [[shared]]").await;
    house.write(house.b, "shared", "Shared in b", "[[home]]").await;

    let home = house.view(house.a, "home").await.unwrap();
    let titles: Vec<_> =
        home.links.iter().map(|link| link.title.as_ref().map(ToString::to_string)).collect();
    assert_eq!(titles, [None, Some("Shared in a".to_owned())]);
    assert!(home.backlinks.is_empty());
    let shared = house.view(house.a, "shared").await.unwrap();
    let from: Vec<_> = shared.backlinks.iter().map(|link| link.slug.to_string()).collect();
    assert_eq!(from, ["home"]);
}

pub async fn search_stays_inside(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "mine", "Mine", "common words").await;
    house.write(house.b, "secret", "Secret", "common words and zebras").await;
    assert_eq!(house.found(house.a, "common").await, ["mine"]);
    assert!(house.found(house.a, "zebras").await.is_empty());
    assert_eq!(house.found(house.a, "zebras common").await, ["mine"]);
    assert_eq!(house.found(house.b, "zebras").await, ["secret"]);
}

pub async fn scores_do_not_depend_on_other_spaces(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "one", "One", "the zebra stands alone").await;
    house.write(house.a, "two", "Two", "zebra zebra zebra, and other words").await;
    house.write(house.a, "three", "Three", "nothing of the kind").await;
    let before = scores(&house).await;
    assert_eq!(before.len(), 2);

    let pages = (0..1_000)
        .map(|n| ImportedPage {
            page: PageId::from_uuid(fresh_uuid()),
            revision: RevisionId::from_uuid(fresh_uuid()),
            draft: draft(&format!("z{n}"), "Zebra", "zebra crossing, zebra again"),
        })
        .collect();
    house.done(Effect::ImportPages { space: house.b, pages, at: at(1) }).await;
    assert_eq!(scores(&house).await, before);
}

pub async fn an_unknown_space_is_empty(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "home", "Home", "words").await;
    let nowhere = SpaceId::from_uuid(fresh_uuid());
    assert!(house.view(nowhere, "home").await.is_none());
    assert!(house.found(nowhere, "words").await.is_empty());
    assert!(house.store.pages(nowhere, None, 10).await.unwrap().is_empty());
    assert!(house.store.recent_pages(nowhere, 10).await.unwrap().is_empty());
    assert_eq!(house.store.page_count(nowhere).await.unwrap(), 0);
}

/// To the last bit.
async fn scores(house: &House) -> Vec<(String, u64)> {
    let hits = house.store.search(house.a, &SearchQuery::parse("zebra"), 50).await.unwrap();
    hits.into_iter().map(|hit| (hit.page.slug.to_string(), hit.score.to_bits())).collect()
}
