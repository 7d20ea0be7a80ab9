//! Deserializes a list from a text: `80, 443`.

use super::text::{Text, TextRole};
use super::{Problem, Recorder};
use serde::de::{DeserializeSeed, SeqAccess};

/// The items between commas, trimmed.
pub(super) struct Items<'a, 'de> {
    /// The unread part; `None` at the end.
    rest: Option<&'de str>,
    recorder: Option<&'a Recorder>,
}

impl<'a, 'de> Items<'a, 'de> {
    pub(super) fn new(text: &'de str, recorder: Option<&'a Recorder>) -> Self {
        Self {
            rest: (!text.is_empty()).then_some(text),
            recorder,
        }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.rest.is_none()
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
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
        seed.deserialize(Text::new(item, TextRole::Item, self.recorder))
            .map(Some)
            .map_err(|problem| problem.in_item(item))
    }

    fn size_hint(&self) -> Option<usize> {
        let commas = |rest: &str| rest.bytes().filter(|byte| *byte == b',').count();
        Some(self.rest.map_or(0, |rest| commas(rest) + 1))
    }
}
