//! Bytes that would like to be something else.

use narthex_core::{
    Conversation, ConversationId, Digest, RecordDraft, RequestId, SessionId, Subject,
};

use super::Backend;
use super::house::{House, at, creation, draft, new_page, record, tagged, title};
use super::ledger::verify;
use crate::{Effect, UnitOfWork, fresh_uuid};

pub async fn records_hold_any_text_on_one_line(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let before = house.records().await;
    let drafts: Vec<RecordDraft> = HOSTILE.iter().map(|text| everywhere(text)).collect();
    house.store.commit(UnitOfWork::records(drafts.clone())).await.unwrap();

    let stored = house.store.records(before + 1, 1_000).await.unwrap();
    assert_eq!(stored.len(), drafts.len());
    for (stored, draft) in stored.iter().zip(&drafts) {
        assert_eq!(&stored.read().unwrap().draft, draft);
        let printable = stored.bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
        assert!(printable, "{}", String::from_utf8_lossy(&stored.bytes));
    }
    let verified = verify(&*house.store, backend).await;
    drop(house);
    let store = backend.reopen().await;
    assert_eq!(verify(&*store, backend).await, verified);
}

pub async fn contents_hold_any_text(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for (n, text) in HOSTILE.iter().enumerate() {
        // A page takes no NUL; what it does take comes back to the byte.
        let body = text.replace('\0', "");
        let says = tagged(&format!("p{n}"), "It's \"quoted\" -- \u{e9}", &body, &["a'b", "c\"d"]);
        house.done(Effect::WritePage(new_page(house.a, says.clone()))).await;
        assert_eq!(house.page(house.a, &format!("p{n}")).await.draft, says);

        let mut proposal = creation(&house.agent, draft(&format!("q{n}"), "New", &body));
        proposal.reason = (*text).to_owned();
        house.propose(&proposal).await;
        assert_eq!(house.proposal(proposal.id).await, proposal);

        let talk = Conversation {
            id: ConversationId::from_uuid(fresh_uuid()),
            title: title("Talk"),
            body: (*text).to_owned(),
            created: at(1),
        };
        house.done(Effect::AddConversation(talk.clone())).await;
        assert_eq!(house.store.conversation(talk.id).await.unwrap(), Some(talk));
    }
}

/// The same text in every field that takes text.
fn everywhere(text: &str) -> RecordDraft {
    RecordDraft {
        surface: Some(text.to_owned()),
        tool: text.to_owned(),
        arguments: Some(Digest::of(text.as_bytes())),
        micros: Some(u64::MAX),
        request: Some(RequestId::new(text)),
        session: Some(SessionId::new(text)),
        subject: Subject {
            kind: Some(text.to_owned()),
            id: Some(text.to_owned()),
            digest: Some(Digest::of(b"")),
            count: Some(u64::MAX),
            from: Some(text.to_owned()),
            to: Some(text.to_owned()),
        },
        ..record("replaced")
    }
}

const HOSTILE: &[&str] = &[
    "",
    "\0",
    "a\0b",
    "line\nline",
    "line\r\nline",
    "\u{85}",
    "\u{2028}\u{2029}",
    "\u{1b}[31mred\u{1b}[0m",
    "\u{1b}]0;title\u{7}",
    "\u{202e}desrever",
    "\u{feff}",
    "\u{7f}\u{9b}",
    "\u{10ffff}\u{e0001}",
    "\"}\n{\"v\":1,\"seq\":1}",
    "\\\"\\u0000\\n",
    "'; DROP TABLE ledger; --",
    "%s%n{}${jndi:x}",
    "\u{1F600}\u{200d}\u{1F4BB}",
];
