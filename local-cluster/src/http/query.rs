//! The parameters of a request.

use std::str::FromStr;

use axum::extract::Query;
use http::Uri;
use serde_json::Value;

use crate::field_error::FieldError;
use crate::rules::{FieldValidation, WriteOptions};
use crate::status::ApiError;

/// How long the name of a manager may be, in bytes.
pub(super) const MAX_MANAGER: usize = 128;

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
            manager: None,
            field_manager: self.get("fieldManager"),
            field_validation: self.get("fieldValidation"),
        })
    }

    /// Refuses names of managers that are too long or cannot be shown, for options of this kind.
    pub(crate) fn check_manager(&self, options: &str) -> Result<(), ApiError> {
        let Some(manager) = self.get("fieldManager") else {
            return Ok(());
        };
        let mut errors = Vec::new();
        if manager.len() > MAX_MANAGER {
            let why = format!("may not be more than {MAX_MANAGER} bytes");
            errors.push(FieldError::too_long("fieldManager", &why));
        }
        for (index, sign) in manager.char_indices().filter(|(_, sign)| sign.is_control()) {
            let why = format!(
                "invalid character U+{:04X} (at position {index})",
                u32::from(sign)
            );
            let manager = Value::from(manager);
            errors.push(FieldError::invalid("fieldManager", &manager, &why));
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(ApiError::invalid("meta.k8s.io", options, "", &errors))
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
