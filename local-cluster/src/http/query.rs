//! The parameters of a request.

use std::str::FromStr;

use axum::extract::Query;
use http::Uri;

use crate::rules::{FieldValidation, WriteOptions};
use crate::status::ApiError;

/// Query parameters, the first of a name winning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Reads the query of an address.
    pub(crate) fn of(uri: &Uri) -> Result<Self, ApiError> {
        Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map(|Query(pairs)| Self(pairs))
            .map_err(|e| ApiError::bad_request(format!("invalid query: {e}")))
    }

    /// The value of a parameter that is there and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Whether a parameter is there, empty or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// All values of a parameter.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let pairs = self.0.iter().filter(|(key, _)| key == name);
        pairs.map(|(_, value)| value.as_str()).collect()
    }

    /// Whether a parameter says yes: anything does but `0` and `false`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        let given = self.0.iter().find(|(key, _)| key == name);
        given.is_some_and(|(_, value)| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// A number; anything else is refused.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            ApiError::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        })
    }

    /// Whether nothing is to be stored.
    pub(crate) fn dry_run(&self) -> Result<bool, ApiError> {
        match self.get("dryRun") {
            None => Ok(false),
            Some("All") => Ok(true),
            Some(other) => Err(ApiError::bad_request(format!(
                "dryRun: Unsupported value: {other:?}: supported values: \"All\""
            ))),
        }
    }

    /// The options of a write.
    pub(crate) fn write_options(&self) -> Result<WriteOptions<'_>, ApiError> {
        Ok(WriteOptions {
            validation: self.field_validation()?,
            dry_run: self.dry_run()?,
            field_manager: self.get("fieldManager"),
            field_validation: self.get("fieldValidation"),
        })
    }

    /// What to do about unknown fields.
    fn field_validation(&self) -> Result<FieldValidation, ApiError> {
        match self.get("fieldValidation") {
            None | Some("Warn") => Ok(FieldValidation::Warn),
            Some("Ignore") => Ok(FieldValidation::Ignore),
            Some("Strict") => Ok(FieldValidation::Strict),
            Some(other) => Err(ApiError::bad_request(format!(
                "fieldValidation: Unsupported value: {other:?}: supported values: \"Ignore\", \"Strict\", \"Warn\""
            ))),
        }
    }
}
