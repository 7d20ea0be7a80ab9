//! Values of flags that have a form of their own. What is wrong with them is said with what is
//! allowed.

use crate::fixture::duration::{self, LONGEST};
use http::{HeaderName, HeaderValue, header};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Headers that say how a request goes over the wire, which the kit does itself.
const OWN_HEADERS: [HeaderName; 5] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
];

/// A text that may have a secret in it, such as a URL with a password: `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// A header as `Name: value`. Its value is shown nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// The name.
    pub(super) name: HeaderName,
    /// The value, marked as sensitive.
    pub(super) value: HeaderValue,
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The text is not in the errors: whatever it is, there may be a secret in it.
        let (name, value) = text
            .split_once(':')
            .ok_or("expected 'Name: value', with a colon")?;
        let name: HeaderName = name
            .trim()
            .parse()
            .map_err(|_| "what stands before the colon is not the name of a header")?;
        if OWN_HEADERS.contains(&name) {
            return Err(format!("{name}: the kit sets this header itself"));
        }
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| format!("{name}: the value has characters that no header may have"))?;
        value.set_sensitive(true);
        Ok(Self { name, value })
    }
}

/// How long something may take: `async=120s` or `total=10m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetArg {
    /// One operation until it is no longer `Running`.
    Async(Duration),
    /// The whole run.
    Total(Duration),
}

impl FromStr for BudgetArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = "expected async=DURATION or total=DURATION, such as async=120s";
        let (name, time) = text.split_once('=').ok_or(wrong)?;
        let time =
            |()| duration::parse(time, LONGEST).map_err(|problem| format!("{name}: {problem}"));
        match name {
            "async" => Ok(Self::Async(time(())?)),
            "total" => Ok(Self::Total(time(())?)),
            _ => Err(wrong.to_owned()),
        }
    }
}

impl fmt::Display for BudgetArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Async(time) => write!(f, "async={}", duration::shown(*time)),
            Self::Total(time) => write!(f, "total={}", duration::shown(*time)),
        }
    }
}

/// A call's time, as long as controllers allow one.
pub(super) fn call_time(text: &str) -> Result<Duration, String> {
    duration::parse(text, Duration::from_secs(60))
}

/// A time to wait for a driver.
pub(super) fn wait(text: &str) -> Result<Duration, String> {
    duration::parse(text, Duration::from_secs(3600))
}

/// What waits are multiplied with.
pub(super) fn time_scale(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|scale| (0.0..=10.0).contains(scale))
        .ok_or_else(|| "expected a number from 0 to 10, such as 0.1".to_owned())
}
