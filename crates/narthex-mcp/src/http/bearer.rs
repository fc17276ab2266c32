//! The credential, from its one place.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// What stands behind `Bearer `: one header, one scheme, one token of visible ASCII. Anything
/// else is as good as nothing; a query string is never looked at.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    let good = scheme.eq_ignore_ascii_case("bearer")
        && !token.is_empty()
        && token.bytes().all(|b| b.is_ascii_graphic() && b != b',');
    good.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::bearer;
    use http::header::AUTHORIZATION;
    use http::{HeaderMap, HeaderValue};

    #[test]
    fn one_header_one_scheme_one_token() {
        for (value, token) in [
            (&b"Bearer abc"[..], Some("abc")),
            (b"bearer abc", Some("abc")),
            (b"BEARER  abc", Some("abc")),
            (b"Bearer", None),
            (b"Bearer ", None),
            (b"Basic abc", None),
            (b"Bearer a b", None),
            (b"Bearer abc, Basic x", None),
            (b"Bearer abc,Basic", None),
            (b"Bearer \xc3\xa9", None),
            (b"abc", None),
            (b"", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_bytes(value).expect("a header"));
            assert_eq!(bearer(&headers), token, "{value:?}");
        }
        let mut twice = HeaderMap::new();
        twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
        twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
        assert_eq!(bearer(&twice), None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
