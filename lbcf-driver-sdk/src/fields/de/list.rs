//! Deserializes a list from a text: `80, 443`.

use super::Problem;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess};

/// The items between commas, trimmed, with the deserializer of one.
pub(super) struct Items<'de, F> {
    /// The unread part; `None` at the end.
    rest: Option<&'de str>,
    item: F,
}

impl<'de, F> Items<'de, F> {
    pub(super) fn new(text: &'de str, item: F) -> Self {
        Self {
            rest: (!text.is_empty()).then_some(text),
            item,
        }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.rest.is_none()
    }
}

impl<'de, D, F> SeqAccess<'de> for Items<'de, F>
where
    D: Deserializer<'de, Error = Problem>,
    F: Fn(&'de str) -> D,
{
    type Error = Problem;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        let Some(rest) = self.rest else {
            return Ok(None);
        };
        let item = match rest.split_once(',') {
            Some((item, rest)) => {
                self.rest = Some(rest);
                item
            }
            None => {
                self.rest = None;
                rest
            }
        };
        let item = item.trim();
        seed.deserialize((self.item)(item))
            .map(Some)
            .map_err(|problem| problem.in_item(item))
    }

    fn size_hint(&self) -> Option<usize> {
        let commas = |rest: &str| rest.bytes().filter(|byte| *byte == b',').count();
        Some(self.rest.map_or(0, |rest| commas(rest) + 1))
    }
}
