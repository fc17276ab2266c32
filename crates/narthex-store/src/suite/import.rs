//! Many pages at once.

use narthex_core::{PageDraft, PageId, RevisionId, SpaceId};

use super::Backend;
use super::house::{House, at, creation, draft, from_proposal, tagged};
use crate::{Effect, Effected, ImportOutcome, ImportedPage, Refused, fresh_uuid};

pub async fn pages_are_made_revised_or_left_alone(backend: &dyn Backend) {
    use ImportOutcome::{Created, Unchanged, Updated};
    let house = House::open(backend).await;
    let proposal = creation(&house.agent, draft("foreign", "Foreign", "theirs"));
    house.propose(&proposal).await;
    house.done(super::house::apply(proposal.id)).await;
    house.write(house.a, "same", "Same", "same").await;
    house.write(house.a, "retagged", "Retagged", "text").await;

    let import = pages(
        house.a,
        vec![
            draft("new", "New", "fresh words"),
            draft("same", "Same", "same"),
            tagged("retagged", "Retagged", "text", &["tag"]),
            draft("foreign", "Foreign", "mine now"),
            draft("new", "New", "fresher words"),
        ],
    );
    let effected = house.done(import).await;
    let expected = vec![Created, Unchanged, Updated, Updated, Updated];
    assert_eq!(effected, Effected::Imported(expected));

    assert_eq!(house.page(house.a, "new").await.revision, 2);
    assert_eq!(house.page(house.a, "same").await.revision, 1);
    assert_eq!(house.page(house.a, "retagged").await.draft.tags, ["tag"]);
    assert_eq!(house.found(house.a, "fresher").await, ["new"]);
    let foreign = house.page(house.a, "foreign").await;
    assert!(foreign.foreign_history, "an import does not wash a page");
    assert_ne!(foreign.provenance, from_proposal(&proposal));
}

pub async fn a_missing_space_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let import = pages(SpaceId::from_uuid(fresh_uuid()), vec![draft("new", "New", "")]);
    assert_eq!(house.refused(import).await, Refused::NotFound("space"));
}

pub async fn a_fault_undoes_all_of_it(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let taken = house.write(house.b, "taken", "Taken", "").await;
    let mut import = vec![imported(draft("good", "Good", "words")), imported(draft("x", "X", ""))];
    import[1].page = taken;
    let effect = Effect::ImportPages { space: house.a, pages: import, at: at(9) };
    assert_eq!(house.refused(effect).await, Refused::Taken("id"));
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 0);
    assert!(house.found(house.a, "words").await.is_empty());
}

fn pages(space: SpaceId, drafts: Vec<PageDraft>) -> Effect {
    let pages = drafts.into_iter().map(imported).collect();
    Effect::ImportPages { space, pages, at: at(7_000) }
}

fn imported(draft: PageDraft) -> ImportedPage {
    ImportedPage {
        page: PageId::from_uuid(fresh_uuid()),
        revision: RevisionId::from_uuid(fresh_uuid()),
        draft,
    }
}
