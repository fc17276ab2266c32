//! Full-text search.

use super::Backend;
use super::house::{House, delete_page, draft, new_page, tagged};
use crate::{Effect, Hit, SearchQuery};

pub async fn nothing_to_look_for_finds_nothing(backend: &dyn Backend) {
    let house = library(backend).await;
    for query in ["", "   ", "* ^ -", "\"\"", "!!!"] {
        assert!(house.found(house.a, query).await.is_empty(), "{query:?}");
    }
}

pub async fn words_are_joined_by_and_then_by_or(backend: &dyn Backend) {
    let house = library(backend).await;
    assert_eq!(house.found(house.a, "quick brown").await, ["fox"]);
    assert_eq!(house.found(house.a, "QUICK").await, ["fox"]);
    let mut any = house.found(house.a, "quick bread").await;
    any.sort();
    assert_eq!(any, ["bakery", "fox"], "no page has both, so either will do");
    assert!(house.found(house.a, "absent").await.is_empty());
    assert_eq!(house.found(house.a, "absent quick").await, ["fox"]);
}

pub async fn phrases_keep_their_order(backend: &dyn Backend) {
    let house = library(backend).await;
    assert_eq!(house.found(house.a, "\"quick brown fox\"").await, ["fox"]);
    assert!(house.found(house.a, "\"brown quick\"").await.is_empty());
    assert_eq!(house.found(house.a, "\"quick brown\" jumps").await, ["fox"]);
}

pub async fn prefixes_match_beginnings(backend: &dyn Backend) {
    let house = library(backend).await;
    assert_eq!(house.found(house.a, "qui*").await, ["fox"]);
    assert_eq!(house.found(house.a, "q*").await, ["fox"]);
    assert!(house.found(house.a, "qui").await.is_empty());
    assert!(house.found(house.a, "uick*").await.is_empty());
}

pub async fn a_title_weighs_more_than_a_body(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "body", "Something", "a harbour lies here, says the text").await;
    house.write(house.a, "title", "Harbour", "ships and other words of the text").await;
    for n in 0..5 {
        house.write(house.a, &format!("other-{n}"), "Other", "quite another thing").await;
    }
    let hits = hits(&house, "harbour").await;
    let order: Vec<&str> = hits.iter().map(|hit| hit.page.slug.as_str()).collect();
    assert_eq!(order, ["title", "body"]);
    assert!(hits[0].score > hits[1].score, "{} {}", hits[0].score, hits[1].score);
}

pub async fn tags_are_found(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let says = tagged("home", "Home", "text", &["deep sea", "wh\"y"]);
    house.done(Effect::WritePage(new_page(house.a, says))).await;
    assert_eq!(house.found(house.a, "sea").await, ["home"]);
    let hit = hits(&house, "sea").await.remove(0);
    assert_eq!(hit.page.tags, ["deep sea", "wh\"y"]);
}

pub async fn matches_are_marked(backend: &dyn Backend) {
    let house = library(backend).await;
    let hit = hits(&house, "brown").await.remove(0);
    assert!(hit.snippet.contains("**brown**"), "{}", hit.snippet);
    assert_eq!(hit.page.slug.as_str(), "fox");
    assert_eq!(hit.page.space, house.a);
    let long = format!("{} needle {}", "before ".repeat(2_000), "after ".repeat(2_000));
    house.write(house.a, "long", "Long", &long).await;
    let hit = hits(&house, "needle").await.remove(0);
    assert!(hit.snippet.contains("**needle**") && hit.snippet.len() < 1_000, "{}", hit.snippet);
}

pub async fn accents_do_not_matter(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "cafe", "Caf\u{e9}", "cr\u{e8}me br\u{fb}l\u{e9}e").await;
    for query in ["cafe", "caf\u{e9}", "CR\u{c8}ME", "brulee"] {
        assert_eq!(house.found(house.a, query).await, ["cafe"], "{query}");
    }
}

pub async fn the_limit_is_kept(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for n in 0..5 {
        house.write(house.a, &format!("p{n}"), "Page", "same words").await;
    }
    let query = SearchQuery::parse("words");
    for (limit, found) in [(0, 0), (1, 1), (3, 3), (50, 5)] {
        let hits = house.store.search(house.a, &query, limit).await.unwrap();
        assert_eq!(hits.len(), found, "limit {limit}");
    }
}

pub async fn the_index_follows_every_change(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Oldtitle", "oldbody").await;
    let says = tagged("home", "Newtitle", "newbody", &["newtag"]);
    house.revise(house.a, page, 1, says).await;
    for gone in ["oldtitle", "oldbody"] {
        assert!(house.found(house.a, gone).await.is_empty(), "{gone}");
    }
    for there in ["newtitle", "newbody", "newtag"] {
        assert_eq!(house.found(house.a, there).await, ["home"], "{there}");
    }
    house.done(delete_page(house.a, page, 2)).await;
    for gone in ["newtitle", "newbody", "newtag", "oldbody"] {
        assert!(house.found(house.a, gone).await.is_empty(), "{gone}");
    }
    // A refused change leaves the index as it was.
    house.write(house.a, "kept", "Kept", "keptbody").await;
    let refused = new_page(house.a, draft("kept", "Refused", "refusedbody"));
    house.refused(Effect::WritePage(refused)).await;
    assert!(house.found(house.a, "refusedbody").await.is_empty());
    assert_eq!(house.found(house.a, "keptbody").await, ["kept"]);
}

pub async fn hostile_queries_are_only_text(backend: &dyn Backend) {
    let house = library(backend).await;
    house.write(house.b, "secret", "Secret", "hidden quick words").await;
    let before = house.store.page_count(house.a).await.unwrap();
    let long = "a".repeat(10_240);
    let many = "quick OR ".repeat(1_200);
    let quotes = "\"".repeat(10_240);
    for query in HOSTILE.iter().copied().chain([long.as_str(), &many, &quotes]) {
        let hits = house.store.search(house.a, &SearchQuery::parse(query), 50).await;
        let hits = hits.unwrap_or_else(|error| panic!("{query:?}: {error}"));
        assert!(hits.iter().all(|hit| hit.page.space == house.a), "{query:?}");
    }
    assert_eq!(house.store.page_count(house.a).await.unwrap(), before);
    // An operator is a word: pages that do not have it as a word are not found by it.
    assert!(house.found(house.a, "NOT").await.is_empty());
    assert!(house.found(house.a, "title:absent").await.is_empty());
}

async fn library(backend: &dyn Backend) -> House {
    let house = House::open(backend).await;
    house.write(house.a, "fox", "A fox", "The quick brown fox jumps over the lazy dog.").await;
    house.write(house.a, "bakery", "A bakery", "Bread and cake, every day.").await;
    house
}

async fn hits(house: &House, query: &str) -> Vec<Hit> {
    house.store.search(house.a, &SearchQuery::parse(query), 50).await.unwrap()
}

const HOSTILE: &[&str] = &[
    "quick OR bread",
    "quick AND",
    "AND",
    "OR OR OR",
    "NOT quick",
    "quick NOT brown",
    "NEAR(quick brown, 2)",
    "NEAR(",
    "title:fox",
    "title : fox",
    "{title body}:fox",
    "-title:fox",
    "^quick",
    "quick + brown",
    "\"quick",
    "quick\"",
    "\"\"\"\"",
    "\"quick\" \"",
    "'quick'",
    "*",
    "**",
    "q**",
    "(((((",
    ")quick(",
    "quick)) OR 1=1 --",
    "'; DROP TABLE pages; --",
    "\"; DELETE FROM spaces; --",
    "' UNION SELECT body FROM pages --",
    "fts_2 MATCH 'secret'",
    "rank MATCH 'bm25(1)'",
    "quick\0brown",
    "\0",
    "%",
    "_",
    "\\",
    "quick & brown | !fox <-> dog:*",
    "to_tsquery('x')",
    "quick;brown",
    "$1",
    "?1",
    ":name",
    "\u{202e}kciuq",
    "\u{feff}quick",
    "\u{1F600}",
    "\u{0301}",
    "q\u{0301}uick",
    "\u{2028}quick\u{2029}",
    "\u{1b}[31mquick",
    "\r\nquick\r\n",
    "\u{ff22}\u{ff32}\u{ff2f}\u{ff37}\u{ff2e}",
];
