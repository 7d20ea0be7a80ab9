//! Parsers of flag values, with messages that name the allowed values.

use crate::fixture::duration::{self, LONGEST};
use crate::transport::parse_header;
use http::{HeaderName, HeaderValue};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A header of the form `Name: value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: HeaderName,
    pub(super) value: HeaderValue,
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The text is not in the errors, because it may contain a secret.
        let (name, value) = text
            .split_once(':')
            .ok_or("expected 'Name: value', with a colon")?;
        let (name, value) =
            parse_header(name.trim(), value.trim()).map_err(|problem| {
                match name.trim().parse::<HeaderName>() {
                    Ok(name) => format!("{name}: {problem}"),
                    Err(_) => format!("before the colon: {problem}"),
                }
            })?;
        Ok(Self { name, value })
    }
}

/// A time limit: `async=120s` or `total=10m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetArg {
    /// One operation until it is no longer `Running`.
    Async(Duration),
    /// The whole run, until the last check ends.
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

/// The timeout of a call, up to the longest one of controllers.
pub(super) fn call_time(text: &str) -> Result<Duration, String> {
    duration::parse(text, Duration::from_secs(60))
}

/// The wait for a driver.
pub(super) fn wait(text: &str) -> Result<Duration, String> {
    duration::parse(text, Duration::from_secs(3600))
}

/// The factor for retry delays.
pub(super) fn time_scale(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|scale| (0.0..=10.0).contains(scale))
        .ok_or_else(|| "expected a number from 0 to 10, such as 0.1".to_owned())
}
