//! What a program was told before, in order.

use std::collections::{HashSet, VecDeque};

use narthex_core::{Journal, RunAnswer, RunCall, RunEvent, Timestamp};

/// What is left of a journal.
#[derive(Debug)]
pub(super) struct Replay {
    events: VecDeque<RunEvent>,
    answered: HashSet<u32>,
}

/// How a call compares with the journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Was {
    /// It was made and answered.
    Same,
    /// It is to be made: the journal is over, or knows no answer.
    New,
    /// Another one was made here.
    Another,
}

impl Replay {
    pub(super) fn of(journal: &Journal) -> Self {
        let answered = journal.events.iter().filter_map(|event| match event {
            RunEvent::Answered { call, .. } => Some(*call),
            RunEvent::Called(_) => None,
        });
        Self { answered: answered.collect(), events: journal.events.iter().cloned().collect() }
    }

    pub(super) fn is_over(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn called(&mut self, call: &RunCall) -> Was {
        match self.events.pop_front() {
            None => Was::New,
            Some(RunEvent::Called(before)) if before == *call => {
                if self.answered.contains(&call.call) { Was::Same } else { Was::New }
            }
            Some(_) => Was::Another,
        }
    }

    /// The next answer, if it is an answer's turn.
    pub(super) fn next_answer(&mut self) -> Option<(u32, Timestamp, RunAnswer)> {
        if !matches!(self.events.front(), Some(RunEvent::Answered { .. })) {
            return None;
        }
        match self.events.pop_front() {
            Some(RunEvent::Answered { call, at, answer }) => Some((call, at, answer)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use narthex_core::{Journal, RunAnswer, RunCall, RunEvent, Timestamp};
    use serde_json::json;

    use super::{Replay, Was};

    fn call(call: u32) -> RunCall {
        let (module, function) = ("host:a".to_owned(), "f".to_owned());
        RunCall { call, module, function, arguments: json!({"n": call}), deferred: true }
    }

    fn answer(call: u32) -> RunEvent {
        let answer = RunAnswer::Value { value: json!(call), binaries: Vec::new() };
        RunEvent::Answered { call, at: Timestamp::from_millis(5), answer }
    }

    #[test]
    fn what_was_answered_is_told_in_its_order_and_what_was_not_is_made() {
        let called = |n| RunEvent::Called(call(n));
        let events = vec![called(0), called(1), answer(1), called(2), answer(2)];
        let mut replay =
            Replay::of(&Journal { seed: 1, started: Timestamp::from_millis(0), events });
        assert_eq!(replay.called(&call(0)), Was::New);
        assert!(!replay.is_over());
        assert!(replay.next_answer().is_none());
        assert_eq!(replay.called(&call(1)), Was::Same);
        assert_eq!(replay.next_answer().map(|(call, ..)| call), Some(1));
        let mut other = call(2);
        other.arguments = json!({"n": "another"});
        assert_eq!(replay.called(&other), Was::Another);
    }

    #[test]
    fn a_call_where_an_answer_was_is_another() {
        let events = vec![RunEvent::Called(call(0)), answer(0)];
        let mut replay =
            Replay::of(&Journal { seed: 1, started: Timestamp::from_millis(0), events });
        assert_eq!(replay.called(&call(0)), Was::Same);
        assert_eq!(replay.called(&call(1)), Was::Another);
        assert_eq!(replay.called(&call(1)), Was::New);
    }
}
