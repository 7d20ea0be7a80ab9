//! What is known of a driver before its fixture is written.

use super::schema::Maps;

/// What is known of a driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Its URL, if one was given.
    pub url: Option<Url>,
    /// What came of looking at it.
    pub seen: Seen,
    /// What its maps hold.
    pub maps: Maps,
}

/// A URL as it may be written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Without user and password.
    pub shown: String,
    /// Whether something was left out.
    pub is_cut: bool,
}

/// What came of looking at a driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Seen {
    /// Nobody looked.
    #[default]
    NotAsked,
    /// It is not there, for this reason.
    Away(String),
    /// It is there.
    There {
        /// What it thinks of an empty `lbSpec`.
        empty_spec: EmptySpec,
        /// Whether it has an OpenAPI document.
        has_document: bool,
    },
}

/// What a driver thinks of an empty `lbSpec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmptySpec {
    /// It takes it.
    Accepted,
    /// It does not, and says why.
    Refused(String),
    /// It gave no proper answer, but this.
    NoVerdict(String),
}
