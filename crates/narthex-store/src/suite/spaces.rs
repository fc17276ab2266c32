//! Spaces.

use narthex_core::SpaceId;

use super::Backend;
use super::house::{House, slug, space};
use crate::{Effect, Refused, fresh_uuid};

pub async fn a_new_space_is_found(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let added = space("workshop");
    house.done(Effect::AddSpace(added.clone())).await;

    assert_eq!(house.store.space(added.id).await.unwrap(), Some(added.clone()));
    assert_eq!(house.store.space_by_slug(&added.slug).await.unwrap(), Some(added));
    let slugs: Vec<String> =
        house.store.spaces().await.unwrap().iter().map(|space| space.slug.to_string()).collect();
    assert_eq!(slugs, ["a", "b", "workshop"]);
    assert_eq!(house.store.space(SpaceId::from_uuid(fresh_uuid())).await.unwrap(), None);
    assert_eq!(house.store.space_by_slug(&slug("nowhere")).await.unwrap(), None);
}

pub async fn a_taken_slug_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    assert_eq!(house.refused(Effect::AddSpace(space("a"))).await, Refused::Taken("slug"));
    assert_eq!(house.store.spaces().await.unwrap().len(), 2);
}

pub async fn a_taken_id_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut second = space("second");
    second.id = house.a;
    assert_eq!(house.refused(Effect::AddSpace(second)).await, Refused::Taken("id"));
    house.write(house.a, "home", "Home", "still works").await;
    assert_eq!(house.found(house.a, "works").await, ["home"]);
}
