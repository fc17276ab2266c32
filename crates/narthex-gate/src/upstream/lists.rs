//! A server's lists, whole: cursors are followed to the end, and the end comes at a cap.
//!
//! Half a list is no list: a tool that is missing from it would count as withdrawn. So whatever goes
//! wrong on the way, nothing is handed on.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use serde::de::{Deserializer as _, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::{Connection, UpstreamFault, UpstreamQuestion};

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum List {
    /// Its tools.
    Tools,
    /// Its resources.
    Resources,
    /// Its templates of resources.
    Templates,
    /// Its prompts.
    Prompts,
}

/// How far a list is followed.
#[derive(Debug, Clone)]
pub struct ListCaps {
    /// Pages asked for.
    pub pages: usize,
    /// Items of all pages.
    pub items: usize,
    /// Bytes of all pages.
    pub bytes: usize,
    /// Until the last page is there.
    pub deadline: Duration,
}

impl Default for ListCaps {
    fn default() -> Self {
        Self { pages: 100, items: 1000, bytes: 8 << 20, deadline: Duration::from_secs(30) }
    }
}

impl List {
    /// The method that asks for it.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The key its items are under.
    fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// All items of a list, each as it came.
pub async fn whole_list(
    connection: &dyn Connection,
    list: List,
    caps: &ListCaps,
) -> Result<Vec<Box<RawValue>>, UpstreamFault> {
    let until = Instant::now() + caps.deadline;
    let (mut items, mut bytes, mut seen) = (Vec::new(), 0_usize, HashSet::new());
    let mut cursor = None;
    for _ in 0..caps.pages {
        let asking = connection.ask(question(list, cursor.take(), until));
        let late = Err(UpstreamFault::Late(caps.deadline));
        let page = timeout_at(until, asking).await.unwrap_or(late)?;
        bytes = bytes.saturating_add(page.get().len());
        if bytes > caps.bytes {
            return Err(UpstreamFault::TooLarge { size: None, most: caps.bytes });
        }
        let page = Page::read(&page, list)?;
        items.extend(page.items);
        if items.len() > caps.items {
            return Err(garbled(format!("{} has more than {} items", list.method(), caps.items)));
        }
        let Some(next) = page.next else { return Ok(items) };
        if next.len() > MAX_CURSOR {
            return Err(garbled(format!("a cursor of {} is too long", list.method())));
        }
        if !seen.insert(next.clone()) {
            return Err(garbled(format!("{} leads in a circle", list.method())));
        }
        cursor = Some(next);
    }
    Err(garbled(format!("{} has more than {} pages", list.method(), caps.pages)))
}

fn question(list: List, cursor: Option<String>, until: Instant) -> UpstreamQuestion {
    let cursor = cursor.map(|cursor| ("cursor".to_owned(), Value::String(cursor)));
    UpstreamQuestion {
        method: list.method().to_owned(),
        params: Map::from_iter(cursor),
        name: None,
        input_schema: None,
        deadline: until.saturating_duration_since(Instant::now()),
        progress: None,
        asked: None,
        logs: None,
    }
}

fn garbled(why: String) -> UpstreamFault {
    UpstreamFault::Garbled(why)
}

/// One page.
#[derive(Debug)]
struct Page {
    items: Vec<Box<RawValue>>,
    next: Option<String>,
}

impl Page {
    fn read(raw: &RawValue, list: List) -> Result<Self, UpstreamFault> {
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        let page = reader.deserialize_map(PageReader { key: list.key() });
        let page = page.map_err(|_| garbled(format!("{} is no list", list.method())))?;
        if page.items.iter().any(|item| !item.get().starts_with('{')) {
            return Err(garbled(format!("an item of {} is no object", list.method())));
        }
        Ok(page)
    }
}

/// Reads the two keys that matter, each at most once: who says two lists says neither.
struct PageReader {
    key: &'static str,
}

impl<'de> Visitor<'de> for PageReader {
    type Value = Page;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page of a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Page, A::Error> {
        let (mut items, mut next) = (None, None);
        while let Some(key) = entries.next_key::<String>()? {
            let doubled = if key == self.key {
                items.replace(entries.next_value::<Vec<Box<RawValue>>>()?).is_some()
            } else if key == "nextCursor" {
                next.replace(entries.next_value::<Option<String>>()?).is_some()
            } else {
                entries.next_value::<IgnoredAny>()?;
                false
            };
            if doubled {
                return Err(A::Error::custom("a key appears twice"));
            }
        }
        let items = items.ok_or_else(|| A::Error::missing_field(self.key))?;
        // Many servers say that nothing follows with an empty cursor.
        Ok(Page { items, next: next.flatten().filter(|next| !next.is_empty()) })
    }
}

const MAX_CURSOR: usize = 4096;

#[cfg(test)]
mod tests;
