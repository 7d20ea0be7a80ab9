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
    /// One of the records that are being replaced leaves.
    Free,
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

    /// A record leaves for those that were refused.
    pub(crate) fn free(&mut self, record: ObjectKey) {
        self.turn = Some(Turn::Leaves(record));
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
        if !has_room && !self.refused.is_empty() {
            return RoomAction::Free;
        }
        let Some(record) = self.refused.pop_first() else {
            return RoomAction::Wait;
        };
        self.turn = Some(Turn::Comes(record.clone()));
        RoomAction::Retry(record)
    }
}

#[cfg(test)]
mod tests {
    use super::RoomAction::{Free, Retry, Wait};
    use super::*;

    #[test]
    fn d99_one_record_leaves_and_one_comes_at_a_time() {
        let keys = |names: &[&str]| -> BTreeSet<ObjectKey> {
            let keys = names.iter().map(|name| ObjectKey::new("ns", *name));
            keys.collect()
        };
        let key = |name| ObjectKey::new("ns", name);
        let mut room = Room::default();
        let mut next = |changing: &[&str], event: Option<Turn>| {
            match event {
                Some(Turn::Leaves(record)) => room.free(record),
                Some(Turn::Comes(record)) => room.refuse(record),
                None => {}
            }
            let changing = keys(changing);
            (
                room.next(|key| changing.contains(key)),
                room == Room::default(),
            )
        };
        assert_eq!(next(&["a", "b"], None), (Wait, true));
        let refused = |name| Some(Turn::Comes(key(name)));
        assert_eq!(next(&["a", "b"], refused("b")), (Free, false));
        let leaves = |name| Some(Turn::Leaves(key(name)));
        assert_eq!(next(&["a", "b", "old"], leaves("old")).0, Wait);
        assert_eq!(next(&["a", "b", "old"], refused("a")).0, Wait);
        // It is gone, and the next one leaves when the first that was refused is registered.
        assert_eq!(next(&["a", "b"], None).0, Retry(key("a")));
        assert_eq!(next(&["a", "b"], None).0, Wait);
        assert_eq!(next(&["b"], None).0, Free);
        assert_eq!(next(&["b"], leaves("older")).0, Retry(key("b")));
        // There is no room in spite of that.
        assert_eq!(next(&["b"], refused("b")).0, Free);
        // It is registered, as another owner's backend has left.
        assert_eq!(next(&[], None), (Wait, true));
    }
}
