//! Break before make: where a load balancer's quota has no room for an owner's old and new backends together, an old one
//! leaves, a new one is registered in its place, and so on. No I/O, no clock.

use crate::api::ObjectKey;
use std::collections::BTreeSet;

/// The records of an owner for which there was no room, and the one that changes now.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Room {
    refused: BTreeSet<ObjectKey>,
    turn: Option<Turn>,
}

#[derive(Debug, PartialEq)]
enum Turn {
    Leaves(ObjectKey),
    Comes(ObjectKey),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RoomAction {
    Wait,
    /// One of the records that are being replaced leaves for this one.
    FreeFor(ObjectKey),
    /// There is room for this record.
    Retry(ObjectKey),
}

impl Room {
    /// There was no room for a record.
    pub(crate) fn refuse(&mut self, record: ObjectKey) {
        self.turn
            .take_if(|turn| *turn == Turn::Comes(record.clone()));
        self.refused.insert(record);
    }

    /// The record that leaves for one that was refused, if there is any.
    pub(crate) fn freed(&mut self, refused: &ObjectKey, record: Option<ObjectKey>) {
        if record.is_none() {
            self.refused.remove(refused);
        }
        self.turn = record.map(Turn::Leaves);
    }

    /// `is_changing` says of a record that it exists and is not registered, or does not stay so.
    pub(crate) fn next(&mut self, is_changing: impl Fn(&ObjectKey) -> bool) -> RoomAction {
        self.refused.retain(&is_changing);
        if let Some(Turn::Leaves(record) | Turn::Comes(record)) = &self.turn
            && is_changing(record)
        {
            return RoomAction::Wait;
        }
        let has_room = matches!(self.turn.take(), Some(Turn::Leaves(_)));
        let Some(record) = self.refused.first().cloned() else {
            return RoomAction::Wait;
        };
        if !has_room {
            return RoomAction::FreeFor(record);
        }
        self.refused.remove(&record);
        self.turn = Some(Turn::Comes(record.clone()));
        RoomAction::Retry(record)
    }
}

#[cfg(test)]
mod tests {
    use super::RoomAction::{FreeFor, Retry, Wait};
    use super::*;

    #[test]
    fn d99_one_record_leaves_and_one_comes_at_a_time() {
        let key = |name| ObjectKey::new("ns", name);
        let mut room = Room::default();
        let next = |room: &mut Room, changing: &[&'static str]| {
            room.next(|record| changing.iter().any(|name| *record.name == **name))
        };
        assert_eq!(next(&mut room, &["a", "b"]), Wait);
        room.refuse(key("b"));
        assert_eq!(next(&mut room, &["a", "b"]), FreeFor(key("b")));
        room.freed(&key("b"), Some(key("old")));
        room.refuse(key("a"));
        assert_eq!(next(&mut room, &["a", "b", "old"]), Wait);
        assert_eq!(next(&mut room, &["a", "b"]), Retry(key("a")), "old is gone");
        assert_eq!(next(&mut room, &["a", "b"]), Wait);
        assert_eq!(
            next(&mut room, &["b"]),
            FreeFor(key("b")),
            "a is registered"
        );
        room.freed(&key("b"), Some(key("older")));
        assert_eq!(next(&mut room, &["b"]), Retry(key("b")));
        room.refuse(key("b"));
        assert_eq!(next(&mut room, &["b"]), FreeFor(key("b")), "no room yet");
        room.freed(&key("b"), None);
        assert_eq!(
            next(&mut room, &["b"]),
            Wait,
            "its load balancer has none to free"
        );
        assert_eq!(room, Room::default());
        room.refuse(key("b"));
        assert_eq!(next(&mut room, &[]), Wait, "it was registered meanwhile");
        assert_eq!(room, Room::default());
    }
}
