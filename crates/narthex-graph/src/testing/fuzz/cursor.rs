//! Cursors: a place in an answer that was not handed out is no place.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::house::HOUSE;
use crate::exec::{Cursor, Page};

/// The first byte says whether the rest is a token, what a token is made of, or changes to one that
/// was handed out: pairs of a place and a byte.
pub fn cursor(data: &[u8]) {
    let Some((how, rest)) = data.split_first() else { return };
    let token = match how % 3 {
        0 => String::from_utf8_lossy(rest).into_owned(),
        1 => URL_SAFE_NO_PAD.encode(rest),
        _ => {
            let mut made = URL_SAFE_NO_PAD.decode(&*HANDED_OUT).unwrap_or_default();
            for change in rest.chunks_exact(2) {
                let at = usize::from(change[0]) % made.len();
                made[at] = change[1];
            }
            URL_SAFE_NO_PAD.encode(made)
        }
    };
    let parsed = Cursor::parse(&token);
    let handed_out = Cursor::parse(&HANDED_OUT).expect("it was handed out");
    let page = Page { size: 1, cursor: Some(token) };
    let answered = HOUSE.ask(SOURCE, page.clone());
    assert_eq!(answered.is_ok(), parsed == Ok(handed_out), "{parsed:?}");
    if let Err(error) = &answered {
        assert!(error.to_string().len() < 500, "{error}");
    }
    assert!(HOUSE.ask(OTHER, page).is_err(), "a place in one answer is none in another");
}

const SOURCE: &str = "match { $p: Person } return { $p.slug } order { $p.slug }";
const OTHER: &str = "match { $p: Person } return { $p.slug } order { $p.slug desc }";

static HANDED_OUT: LazyLock<String> = LazyLock::new(|| {
    let first = HOUSE.ask(SOURCE, Page { size: 1, cursor: None });
    first.ok().and_then(|answer| answer.next).expect("there is more than one person")
});
