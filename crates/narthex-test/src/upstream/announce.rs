//! Who is told that a list has changed.

use serde_json::{Value, json};

use super::Offer;
use super::mouth::Mouth;

/// A pipe, or a stream that was opened for it.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    mouth: Mouth,
    /// In the newer revision: the id of the request that opened it.
    subscription: Option<Value>,
}

impl Listener {
    pub(super) fn new(mouth: Mouth, subscription: Option<Value>) -> Self {
        Self { mouth, subscription }
    }

    pub(super) fn listens(&self) -> bool {
        !self.mouth.is_closed()
    }

    pub(super) async fn tell(&self, list: &str) {
        let method = format!("notifications/{list}/list_changed");
        self.say(&method, json!({})).await;
    }

    /// The first thing said on a stream of the newer revision.
    pub(super) async fn acknowledge(&self, wanted: Value) {
        self.say("notifications/subscriptions/acknowledged", json!({"notifications": wanted}))
            .await;
    }

    async fn say(&self, method: &str, mut params: Value) {
        if let (Some(id), Some(params)) = (&self.subscription, params.as_object_mut()) {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
            params.insert("_meta".to_owned(), meta);
        }
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.mouth.message(&message).await;
    }
}

/// The lists that an offer replaces.
pub(super) fn changed(offer: &Offer) -> Vec<&'static str> {
    let resources = offer.resources.is_some() || offer.templates.is_some();
    let lists = [
        ("tools", offer.tools.is_some()),
        ("resources", resources),
        ("prompts", offer.prompts.is_some()),
    ];
    lists.into_iter().filter_map(|(list, new)| new.then_some(list)).collect()
}
