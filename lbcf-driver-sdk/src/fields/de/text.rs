//! Deserializes one text as its field's type.

use super::Problem;
use super::forms::{is_decimal, is_json_list, is_nonzero, own_words, whole, word};
use super::list::Items;
use crate::fields::number::{self, BOUNDED};
use crate::fields::problem::What;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Expected, VariantAccess, Visitor};
use std::cell::Cell;

/// The role of a text in its map.
#[derive(Clone, Copy)]
pub(super) enum TextRole<'a> {
    /// A key. The cell is set if the key is read as a field's name.
    Key(&'a Cell<bool>),
    /// The value of a field.
    Field,
    /// The value of another key of a map.
    Value,
    /// An item of a list.
    Item,
}

#[derive(Clone, Copy)]
pub(super) struct Text<'a, 'de> {
    text: &'de str,
    role: TextRole<'a>,
}

impl<'a, 'de> Text<'a, 'de> {
    pub(super) const fn new(text: &'de str, role: TextRole<'a>) -> Self {
        Self { text, role }
    }

    /// Rejects empty texts where they count as absent.
    fn check_empty(&self) -> Result<(), Problem> {
        match self.role {
            // Templates leave empty texts behind.
            TextRole::Field if self.text.is_empty() => Err(Problem::new(What::Empty)),
            TextRole::Item if self.text.is_empty() => Err(Problem::value("an item is empty")),
            _ => Ok(()),
        }
    }

    fn not_a(expected: &str, visitor: &dyn Expected) -> Problem {
        let words = own_words(visitor);
        Problem::value(format!("not {}", words.as_deref().unwrap_or(expected)))
    }

    fn not_an_integer(&self, min: i128, max: u128, visitor: &dyn Expected) -> Problem {
        if let Some(words) = own_words(visitor) {
            return Problem::value(format!("not {words}"));
        }
        let (min, max) = number::bounds(&visitor.to_string()).unwrap_or((min, max));
        let (min, but) = match (is_nonzero(visitor), min) {
            (true, 0) => (1, ""),
            (true, _) => (min, " other than 0"),
            (false, _) => (min, ""),
        };
        let kind = format!("{BOUNDED}{min} to {max}");
        // Explains what is wrong with 080 and +80.
        let fits = |number: &i128| match u128::try_from(*number) {
            Ok(number) => number <= max && (min <= 0 || number > 0),
            Err(_) => *number >= min,
        };
        let loosely = self.text.trim().parse::<i128>().ok().filter(fits);
        Problem::value(match loosely {
            Some(number) if number.to_string() != self.text => {
                format!("not {kind}{but} in plain digits: write {number}")
            }
            _ => format!("not {kind}{but}"),
        })
    }

    fn json<V>(
        &self,
        read: impl FnOnce(
            &mut serde_json::Deserializer<serde_json::de::StrRead<'de>>,
        ) -> Result<V, serde_json::Error>,
    ) -> Result<V, Problem> {
        let mut reader = serde_json::Deserializer::from_str(self.text);
        read(&mut reader)
            .and_then(|value| reader.end().map(|()| value))
            .map_err(|error| {
                let error: Problem = serde::de::Error::custom(error);
                Problem::value(format!("not the JSON that is expected: {error}"))
            })
    }

    /// A list, of `items` items for a tuple.
    fn list<V: Visitor<'de>>(self, items: Option<usize>, visitor: V) -> Result<V::Value, Problem> {
        self.check_empty()?;
        if is_json_list(self.text) {
            return self.json(|reader| match items {
                Some(items) => reader.deserialize_tuple(items, visitor),
                None => reader.deserialize_seq(visitor),
            });
        }
        if matches!(self.role, TextRole::Item) {
            return Err(Problem::value("not a list in JSON, such as [[1, 2], [3]]"));
        }
        let mut list = Items::new(self.text, |text| Text::new(text, TextRole::Item));
        let value = visitor.visit_seq(&mut list)?;
        match (list.is_over(), items) {
            (true, _) => Ok(value),
            (false, Some(items)) => Err(Problem::value(format!("not a list of {items}"))),
            (false, None) => Err(Problem::value("has more items than are read")),
        }
    }
}

macro_rules! integers {
    ($($method:ident, $visit:ident, $int:ident;)*) => {$(
        #[allow(clippy::cast_lossless, reason = "i128 and u128 are not narrower")]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            const MIN: i128 = $int::MIN as i128;
            const MAX: u128 = $int::MAX as u128;
            self.check_empty()?;
            match whole::<$int>(self.text) {
                Some(number) if number != 0 || !is_nonzero(&visitor) => visitor.$visit(number),
                _ => Err(self.not_an_integer(MIN, MAX, &visitor)),
            }
        }
    )*};
}

macro_rules! fractions {
    ($($method:ident, $visit:ident, $float:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            self.check_empty()?;
            let number = self.text.parse::<$float>().ok();
            match number.filter(|number| number.is_finite() && is_decimal(self.text)) {
                Some(number) => visitor.$visit(number),
                None => Err(Self::not_a("a number such as 1 or 0.25", &visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'_, 'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_borrowed_str(self.text)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.check_empty()?;
        match self.text {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(Self::not_a("true or false", &visitor)),
        }
    }

    integers! {
        deserialize_i8, visit_i8, i8;
        deserialize_i16, visit_i16, i16;
        deserialize_i32, visit_i32, i32;
        deserialize_i64, visit_i64, i64;
        deserialize_i128, visit_i128, i128;
        deserialize_u8, visit_u8, u8;
        deserialize_u16, visit_u16, u16;
        deserialize_u32, visit_u32, u32;
        deserialize_u64, visit_u64, u64;
        deserialize_u128, visit_u128, u128;
    }

    fractions! {
        deserialize_f32, visit_f32, f32;
        deserialize_f64, visit_f64, f64;
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.check_empty()?;
        let mut characters = self.text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => visitor.visit_char(character),
            _ => Err(Self::not_a("a single character", &visitor)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.check_empty()?;
        visitor.visit_borrowed_str(self.text)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        // JSON, by which values are written, has bytes as a list of numbers.
        self.deserialize_seq(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.text.is_empty() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.text.is_empty() {
            visitor.visit_unit()
        } else {
            Err(Problem::value("not empty"))
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.list(None, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.list(Some(len), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.list(Some(len), visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.check_empty()?;
        self.json(|reader| reader.deserialize_map(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.check_empty()?;
        self.json(|reader| reader.deserialize_struct(name, fields, visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.check_empty()?;
        if self.text.starts_with('{') {
            return self.json(|reader| reader.deserialize_enum(name, variants, visitor));
        }
        visitor.visit_enum(Variant(self))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if let TextRole::Key(is_field) = self.role {
            is_field.set(true);
        }
        visitor.visit_borrowed_str(self.text)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }
}

/// The name of a variant.
struct Variant<'a, 'de>(Text<'a, 'de>);

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Problem;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Problem> {
        Ok((seed.deserialize(word(self.0.text))?, self))
    }
}

impl Variant<'_, '_> {
    fn holds_data<T>(&self) -> Result<T, Problem> {
        let json = serde_json::json!({ self.0.text: "…" });
        Err(Problem::value(format!(
            "not complete: write JSON, such as {json}"
        )))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Problem> {
        self.holds_data()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Problem> {
        self.holds_data()
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Problem> {
        self.holds_data()
    }
}
