//! The merge of one row as somebody would write it who has never seen the engine's: property by
//! property, from what is said of it in words.

use crate::merge::Body;

/// What a row was before two sides parted.
#[derive(Debug, Clone, PartialEq)]
pub enum Was {
    /// This, or not there.
    Known(Option<Body>),
    /// Nobody can say.
    Unclear,
}

/// Somebody has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undecided;

/// What a row is after a merge.
pub fn merged(
    was: &Was,
    ours: Option<&Body>,
    theirs: Option<&Body>,
) -> Result<Option<Body>, Undecided> {
    if ours == theirs {
        return Ok(ours.cloned());
    }
    let Was::Known(was) = was else { return Err(Undecided) };
    // Who did nothing has nothing to say.
    if ours == was.as_ref() {
        return Ok(theirs.cloned());
    }
    if theirs == was.as_ref() {
        return Ok(ours.cloned());
    }
    let (Some(was), Some(ours), Some(theirs)) = (was, ours, theirs) else { return Err(Undecided) };
    let mut body = Body::new();
    for slot in ours.keys().chain(theirs.keys()) {
        let (was, our, their) = (was.get(slot), ours.get(slot), theirs.get(slot));
        let is = match (our == their, our == was, their == was) {
            (true, ..) | (_, _, true) => our,
            (_, true, _) => their,
            _ => return Err(Undecided),
        };
        body.extend(is.map(|is| (slot.clone(), is.clone())));
    }
    Ok(Some(body))
}
