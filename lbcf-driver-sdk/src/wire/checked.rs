//! Checks a JSON text like a [`Value`](serde_json::Value), without making one.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The levels of nesting that `serde_json` leaves to an object of Kubernetes, which is inside of two others.
const DEPTH: u8 = 125;

/// True if a value can be read: numbers are in range, texts are Unicode, and it is not too deep.
pub(super) fn is_valid(json: &str) -> bool {
    let mut json = serde_json::Deserializer::from_str(json);
    Checked(DEPTH).deserialize(&mut json).is_ok()
}

/// A value with at most this many levels.
#[derive(Clone, Copy)]
struct Checked(u8);

impl Checked {
    fn inside<E: Error>(self) -> Result<Self, E> {
        let left = self.0.checked_sub(1);
        left.map(Self).ok_or_else(|| E::custom("too deep"))
    }
}

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inside = self.inside()?;
        while items.next_element_seed(inside)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let inside = self.inside()?;
        while entries.next_key_seed(inside)?.is_some() {
            entries.next_value_seed(inside)?;
        }
        Ok(())
    }
}
