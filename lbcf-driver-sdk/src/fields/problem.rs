//! The error type of reading and writing maps.

use super::shown;
use serde::de::{Expected, Unexpected};
use std::fmt::{self, Display};

/// A problem with its field and value, as far as they are known.
#[derive(Debug)]
pub(super) struct Problem(Box<Details>);

#[derive(Debug)]
struct Details {
    key: Option<String>,
    value: Option<String>,
    /// The item that is wrong, where the value is a list.
    item: Option<String>,
    what: What,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The value is wrong for this reason.
    Value(String),
    /// The value is not one of these words.
    NotOneOf(&'static [&'static str]),
    Missing,
    Empty,
    /// The field is not one of these.
    Unknown(&'static [&'static str]),
    /// The field occurs under two of its names.
    Twice,
}

impl Problem {
    pub(super) fn new(what: What) -> Self {
        Self(Box::new(Details {
            key: None,
            value: None,
            item: None,
            what,
        }))
    }

    pub(super) fn value(text: impl Into<String>) -> Self {
        Self::new(What::Value(text.into()))
    }

    fn about(key: &str, what: What) -> Self {
        let mut problem = Self::new(what);
        problem.0.key = Some(key.to_owned());
        problem
    }

    /// Adds the field and its value.
    pub(super) fn at(mut self, key: &str, value: &str) -> Self {
        let details = &mut self.0;
        if details.key.is_some() {
            // The problem is inside the value.
            details.what = What::Value(details.to_string());
            details.item = None;
        }
        details.key = Some(key.to_owned());
        details.value = Some(value.to_owned());
        self
    }

    /// Adds the item of the list.
    pub(super) fn in_item(mut self, item: &str) -> Self {
        self.0.item = Some(item.to_owned()).filter(|item| !item.is_empty());
        self
    }

    pub(super) fn into_empty(mut self) -> Self {
        self.0.what = What::Empty;
        self
    }

    pub(super) const fn what(&self) -> &What {
        &self.0.what
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    pub(super) fn message(&self, map_name: &str) -> String {
        let details = &*self.0;
        // A type that reads the map as one of several others passes their messages on.
        if let (None, What::Value(text)) = (&details.key, &details.what)
            && text
                .strip_prefix(map_name)
                .is_some_and(|rest| rest.starts_with('.'))
        {
            return text.clone();
        }
        let mut message = map_name.to_owned();
        if let Some(key) = &details.key {
            message = format!("{message}.{}", shown::key(key));
        }
        message += ": ";
        if let Some(value) = &details.value
            && details.what != What::Empty
        {
            message = format!("{message}{}: ", shown::quoted(value));
        }
        message + &details.without_field()
    }
}

impl Details {
    fn without_field(&self) -> String {
        let what = describe(&self.what, self.key.as_deref());
        match &self.item {
            Some(item) => format!("{}: {what}", shown::quoted(item)),
            None => what,
        }
    }
}

impl Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.key {
            write!(f, "{}: ", shown::key(key))?;
        }
        f.write_str(&self.without_field())
    }
}

fn describe(what: &What, key: Option<&str>) -> String {
    match what {
        What::Value(text) => text.clone(),
        What::NotOneOf(words) => format!("not one of {}", shown::listed(words.iter().copied())),
        What::Missing => "is missing".to_owned(),
        What::Empty => "is empty".to_owned(),
        What::Unknown([]) => "unknown: there are no keys here".to_owned(),
        What::Unknown(known) => {
            let meant = match key.and_then(|key| shown::nearest(key, known)) {
                Some(name) => format!(", did you mean {name}?"),
                None => ".".to_owned(),
            };
            let keys = shown::listed(known.iter().copied());
            format!("unknown{meant} The keys are {keys}")
        }
        What::Twice => "is given twice, under two of its names".to_owned(),
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Problem {}

impl serde::de::Error for Problem {
    fn custom<T: Display>(message: T) -> Self {
        Self::value(shown::message(message))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::value(match unexpected {
            // Only the whole map is one: the driver's type does not represent a map.
            Unexpected::Map => {
                format!("a map of strings cannot be read as {expected}: use a struct or a map")
            }
            _ => format!("not {expected}"),
        })
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::value(format!("not {expected}"))
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::value(format!("not {expected}"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(What::NotOneOf(expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::about(field, What::Unknown(expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::about(field, What::Missing)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::about(field, What::Twice)
    }
}
