//! Conversions of texts, error messages, and round trips.

mod messages;
mod round_trip;
mod values;
mod whole;

use crate::webhook::StringMap;

fn map(entries: &[(&str, &str)]) -> StringMap {
    entries
        .iter()
        .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
        .collect()
}
