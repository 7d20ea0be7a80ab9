//! `ListOptions`: versions, pages and bookmarks of lists and watches.
//!
//! Validation needs nothing but the parameters and runs in the API server's order, so that the
//! first error is the same.

use std::time::Duration;

use super::continuation::Continuation;
use super::query::{Params, check_options};
use crate::field_error::{ErrorList as _, FieldError};
use crate::status::ApiError;

const EXACT: &str = "Exact";
const NOT_OLDER_THAN: &str = "NotOlderThan";
const MATCH: &str = "resourceVersionMatch";

/// The timeout of a watch without `timeoutSeconds`.
const WATCH_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const LONGEST_WATCH: Duration = Duration::from_secs(86_400);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListOptions {
    version: String,
    version_match: String,
    limit: Option<usize>,
    continued: String,
    send_initial_events: Option<bool>,
    pub(super) bookmarks: bool,
    timeout: Option<i64>,
}

/// Which revision a list reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionMatch {
    /// The latest, once it has reached this revision.
    NotOlderThan(u64),
    Exact(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListPlan {
    pub(super) when: VersionMatch,
    pub(super) limit: Option<usize>,
    /// The first key, from a continue token.
    pub(super) from: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchStart {
    /// With the existing objects, once the store has reached this revision.
    Objects(u64),
    /// With changes from now on.
    Now,
    /// With changes after this revision.
    After(u64),
}

impl ListOptions {
    pub(super) fn of_list(params: &Params) -> Result<Self, ApiError> {
        let options = Self::read(params)?;
        check_options("ListOptions", &options.list_errors())?;
        Ok(options)
    }

    pub(super) fn of_watch(params: &Params) -> Result<Self, ApiError> {
        let mut options = Self::read(params)?;
        let unspecified = options.send_initial_events.is_none() && options.version_match.is_empty();
        if unspecified && matches!(options.version.as_str(), "" | "0") {
            // A watch without a version has always begun with the existing objects.
            options.send_initial_events = Some(true);
            options.version_match = NOT_OLDER_THAN.to_owned();
        }
        check_options("ListOptions", &options.watch_errors())?;
        Ok(options)
    }

    fn read(params: &Params) -> Result<Self, ApiError> {
        let text = |name| params.get(name).unwrap_or_default().to_owned();
        let limit = params.number::<i64>("limit")?;
        Ok(Self {
            version: text("resourceVersion"),
            version_match: text(MATCH),
            limit: limit
                .and_then(|l| usize::try_from(l).ok())
                .filter(|l| *l > 0),
            continued: text("continue"),
            send_initial_events: params
                .has("sendInitialEvents")
                .then(|| params.flag("sendInitialEvents")),
            bookmarks: params.flag("allowWatchBookmarks"),
            timeout: params.number("timeoutSeconds")?,
        })
    }

    fn list_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if !self.version_match.is_empty() {
            let mut forbid = |why: &str| errors.forbidden(MATCH, why);
            if self.version.is_empty() {
                forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if !self.continued.is_empty() {
                forbid("resourceVersionMatch is forbidden when continue is provided");
            }
            if self.version_match == EXACT && self.version == "0" {
                forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
            }
            if !matches!(self.version_match.as_str(), EXACT | NOT_OLDER_THAN) {
                errors.not_supported(
                    MATCH,
                    self.version_match.as_str(),
                    &[EXACT, NOT_OLDER_THAN, ""],
                );
            }
        }
        if self.send_initial_events.is_some() {
            let why = "sendInitialEvents is forbidden for list";
            errors.forbidden("sendInitialEvents", why);
        }
        errors
    }

    fn watch_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut forbid = |why: &str| errors.forbidden(MATCH, why);
        if self.send_initial_events.is_some() && self.version_match != NOT_OLDER_THAN {
            forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if self.version_match.is_empty() {
            return errors;
        }
        if self.send_initial_events.is_none() {
            forbid(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        if !self.continued.is_empty() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if self.version_match != NOT_OLDER_THAN {
            errors.not_supported(MATCH, self.version_match.as_str(), &[NOT_OLDER_THAN]);
        }
        errors
    }

    pub(super) fn list(&self) -> Result<ListPlan, ApiError> {
        let invalid = |why| ApiError::bad_request(format!("invalid resource version: {why}"));
        let any = matches!(self.version.as_str(), "" | "0");
        // Version 0 is served from the watch cache, which ignores limits.
        let limit = self.limit.filter(|_| self.version != "0");
        if !self.continued.is_empty() {
            let continued = Continuation::decode(&self.continued)?;
            if !any {
                return Err(ApiError::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            return Ok(ListPlan {
                when: continued
                    .revision
                    .map_or(VersionMatch::NotOlderThan(0), VersionMatch::Exact),
                limit,
                from: Some(continued.start),
            });
        }
        let revision = revision(&self.version).map_err(invalid)?;
        // A limit has always implied the exact version.
        let exact = match self.version_match.as_str() {
            "" => limit.is_some() && !any,
            given => given == EXACT,
        };
        Ok(ListPlan {
            when: if exact {
                VersionMatch::Exact(revision)
            } else {
                VersionMatch::NotOlderThan(revision)
            },
            limit,
            from: None,
        })
    }

    pub(super) fn watch(&self) -> Result<WatchStart, ApiError> {
        // The storage layer finds this error, where nothing turns it into a 400 any more.
        let revision = revision(&self.version).map_err(ApiError::unexplained)?;
        Ok(match self.send_initial_events {
            Some(true) => WatchStart::Objects(revision),
            _ if revision == 0 => WatchStart::Now,
            _ => WatchStart::After(revision),
        })
    }

    pub(super) fn sends_initial_events_end(&self) -> bool {
        self.send_initial_events == Some(true) && self.bookmarks
    }

    pub(super) fn timeout(&self) -> Duration {
        match self.timeout {
            None | Some(0) => WATCH_TIMEOUT,
            // A negative timeout has expired already.
            Some(seconds) => {
                Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(LONGEST_WATCH)
            }
        }
    }
}

/// Parses a resource version; an empty one is 0.
pub(super) fn revision(version: &str) -> Result<u64, String> {
    if version.is_empty() {
        return Ok(0);
    }
    let wrong = |why| {
        format!(
            "resourceVersion: Invalid value: {version:?}: strconv.ParseUint: parsing {version:?}: {why}"
        )
    };
    if !version.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong("invalid syntax"));
    }
    version.parse().map_err(|_| wrong("value out of range"))
}

#[cfg(test)]
mod tests;
