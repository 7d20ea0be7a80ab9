//! The result of probing a driver.

use super::schema::Maps;

/// The known properties of a driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The URL, if one was given.
    pub url: Option<Url>,
    /// The result of the probe.
    pub result: ProbeResult,
    /// The documented fields of its maps.
    pub maps: Maps,
}

/// A URL without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Without user and password.
    pub shown: String,
    /// True if user and password were removed.
    pub is_cut: bool,
}

/// The result of probing a driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProbeResult {
    /// No URL was given.
    #[default]
    NotProbed,
    /// The connection failed, for this reason.
    Unreachable(String),
    /// The driver was reached.
    Probed {
        /// Its response to an empty `lbSpec`.
        empty_spec: EmptySpec,
        /// True if it has an OpenAPI document.
        has_document: bool,
    },
}

/// A driver's response to an empty `lbSpec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmptySpec {
    /// `succ: true`: a fixture without samples suffices.
    Accepted,
    /// `succ: false` with this message.
    Rejected(String),
    /// Invalid or missing, with a description.
    Invalid(String),
}
