//! What texts become, what is said of those that do not fit, and that what is written is read.

mod messages;
mod probing;
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
