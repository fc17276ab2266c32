//! The owner's conversations.

use narthex_core::{Conversation, ConversationId};

use super::Backend;
use super::house::{House, at, title};
use crate::{Effect, Refused, fresh_uuid};

pub async fn a_conversation_reads_back(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let talk = conversation(5);
    house.done(Effect::AddConversation(talk.clone())).await;
    assert_eq!(house.store.conversation(talk.id).await.unwrap(), Some(talk.clone()));
    assert_eq!(house.refused(Effect::AddConversation(talk)).await, Refused::Taken("id"));
    let absent = ConversationId::from_uuid(fresh_uuid());
    assert_eq!(house.store.conversation(absent).await.unwrap(), None);
}

pub async fn lists_come_newest_first(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for created in [10, 30, 20] {
        house.done(Effect::AddConversation(conversation(created))).await;
    }
    let listed = house.store.conversations(2).await.unwrap();
    let times: Vec<i64> = listed.iter().map(|talk| talk.created.as_millis()).collect();
    assert_eq!(times, [30, 20]);
}

fn conversation(created: i64) -> Conversation {
    Conversation {
        id: ConversationId::from_uuid(fresh_uuid()),
        title: title("A talk"),
        body: "said and answered".to_owned(),
        created: at(created),
    }
}
