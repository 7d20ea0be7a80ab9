//! Query parameters.

use std::str::FromStr;

use axum::extract::Query;
use http::Uri;

use crate::field_error::{ErrorList as _, ErrorType, FieldError};
use crate::rules::{FieldValidation, WriteOptions};
use crate::status::ApiError;

/// The longest name of a field manager, in bytes.
pub(super) const MAX_MANAGER: usize = 128;

/// Refuses options of a kind such as `PatchOptions` if there are errors.
pub(super) fn check_options(kind: &str, errors: &[FieldError]) -> Result<(), ApiError> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid("meta.k8s.io", kind, "", errors))
}

/// Query parameters; the first of a name wins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn of(uri: &Uri) -> Result<Self, ApiError> {
        Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map(|Query(pairs)| Self(pairs))
            .map_err(|e| ApiError::bad_request(format!("invalid query: {e}")))
    }

    /// The value of a parameter, unless it is empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// True for a parameter that is given, empty or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let pairs = self.0.iter().filter(|(key, _)| key == name);
        pairs.map(|(_, value)| value.as_str()).collect()
    }

    /// A boolean parameter: true unless it is missing, `0` or `false`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        let given = self.0.iter().find(|(key, _)| key == name);
        given.is_some_and(|(_, value)| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

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

    pub(crate) fn dry_run(&self) -> bool {
        self.has("dryRun")
    }

    pub(crate) fn write_options(&self) -> WriteOptions<'_> {
        WriteOptions {
            validation: match self.get("fieldValidation") {
                Some("Ignore") => FieldValidation::Ignore,
                Some("Strict") => FieldValidation::Strict,
                _ => FieldValidation::Warn,
            },
            dry_run: self.dry_run(),
            manager: None,
            field_manager: self.get("fieldManager"),
            field_validation: self.get("fieldValidation"),
        }
    }

    /// Refuses invalid parameters of a write, such as field managers that are too long or contain control
    /// characters; `options` is the kind to report, `errors` are others.
    pub(crate) fn check(&self, options: &str, mut errors: Vec<FieldError>) -> Result<(), ApiError> {
        let manager = self.get("fieldManager").unwrap_or_default();
        if manager.len() > MAX_MANAGER {
            let why = format!("may not be more than {MAX_MANAGER} bytes");
            errors.push(ErrorType::TooLong.at("fieldManager", None, &why));
        }
        for (index, sign) in manager.char_indices().filter(|(_, sign)| sign.is_control()) {
            let why = format!(
                "invalid character U+{:04X} (at position {index})",
                u32::from(sign)
            );
            errors.invalid("fieldManager", manager, &why);
        }
        let dry_run = self.all("dryRun");
        if dry_run.iter().any(|given| *given != "All") {
            errors.not_supported("dryRun", dry_run, &["All"]);
        }
        let known = ["", "Ignore", "Strict", "Warn"];
        let validation = self.get("fieldValidation").unwrap_or_default();
        if options != "DeleteOptions" && !known.contains(&validation) {
            errors.not_supported("fieldValidation", validation, &known);
        }
        check_options(options, &errors)
    }
}
