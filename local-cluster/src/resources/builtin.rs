//! The built-in kinds.
//!
//! A kind without controllers or rules of its own takes a line in [`kinds`].

mod kinds;
mod row;

use self::row::KindRow;
use super::Kind;

pub(super) fn kinds() -> Vec<Kind> {
    kinds::STORED.iter().map(KindRow::kind).collect()
}

/// Reviews and bindings, which are created and never stored.
pub(super) fn reviews() -> Vec<Kind> {
    kinds::REVIEWS.iter().map(KindRow::kind).collect()
}
