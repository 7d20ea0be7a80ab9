//! What a list or a watch asks for besides a selection: versions, pages, bookmarks.
//!
//! Everything is decided here from the parameters alone, in the order in which an API server finds
//! fault with them, so that it finds the same fault.

use std::time::Duration;

use serde_json::Value;

use super::continuation::Continuation;
use super::query::Params;
use crate::field_error::FieldError;
use crate::status::ApiError;

const EXACT: &str = "Exact";
const NOT_OLDER_THAN: &str = "NotOlderThan";
const MATCH: &str = "resourceVersionMatch";

/// A watch ends after this time when it does not say when.
const WATCH_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// No connection is expected to last longer.
const LONGEST_WATCH: Duration = Duration::from_secs(86_400);

/// The parameters of a list or a watch.
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

/// Which state is to be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// The present one, when this revision has been reached.
    Since(u64),
    /// That of this revision.
    At(u64),
}

/// The list that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListPlan {
    pub(super) when: When,
    pub(super) limit: Option<usize>,
    /// Where an earlier page ended.
    pub(super) from: Option<String>,
}

/// How a watch is to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchStart {
    /// With what there is, when this revision has been reached.
    Objects(u64),
    /// With what happens from now on.
    Now,
    /// With what happened after this revision.
    After(u64),
}

impl ListOptions {
    /// Reads the parameters of a list.
    pub(super) fn of_list(params: &Params) -> Result<Self, ApiError> {
        let options = Self::read(params)?;
        refuse(options.list_errors()).map(|()| options)
    }

    /// Reads the parameters of a watch.
    pub(super) fn of_watch(params: &Params) -> Result<Self, ApiError> {
        let mut options = Self::read(params)?;
        let says_nothing =
            options.send_initial_events.is_none() && options.version_match.is_empty();
        if says_nothing && matches!(options.version.as_str(), "" | "0") {
            // A watch from nowhere has always begun with what there is.
            options.send_initial_events = Some(true);
            options.version_match = NOT_OLDER_THAN.to_owned();
        }
        refuse(options.watch_errors()).map(|()| options)
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
            let mut forbid = |why: &str| errors.push(FieldError::forbidden(MATCH, why));
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
                errors.push(self.unknown_match(&[EXACT, NOT_OLDER_THAN, ""]));
            }
        }
        if self.send_initial_events.is_some() {
            let why = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", why));
        }
        errors
    }

    fn watch_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut forbid = |why: &str| errors.push(FieldError::forbidden(MATCH, why));
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
            errors.push(self.unknown_match(&[NOT_OLDER_THAN]));
        }
        errors
    }

    fn unknown_match(&self, allowed: &[&str]) -> FieldError {
        let allowed: Vec<String> = allowed.iter().map(|a| format!("{a:?}")).collect();
        FieldError::not_supported(MATCH, &Value::from(self.version_match.as_str()), &allowed)
    }

    /// The list that is asked for.
    pub(super) fn list(&self) -> Result<ListPlan, ApiError> {
        let invalid = |why| ApiError::bad_request(format!("invalid resource version: {why}"));
        let any = matches!(self.version.as_str(), "" | "0");
        // Who takes any version gets it whole: it costs nothing.
        let limit = self.limit.filter(|_| self.version != "0");
        if !self.continued.is_empty() {
            let continued = Continuation::decode(&self.continued)?;
            if !any {
                return Err(ApiError::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            return Ok(ListPlan {
                when: continued.revision.map_or(When::Since(0), When::At),
                limit,
                from: Some(continued.start),
            });
        }
        let revision = revision(&self.version).map_err(invalid)?;
        // Pages have always been of the version that was asked for.
        let exact = match self.version_match.as_str() {
            "" => limit.is_some() && !any,
            given => given == EXACT,
        };
        Ok(ListPlan {
            when: if exact {
                When::At(revision)
            } else {
                When::Since(revision)
            },
            limit,
            from: None,
        })
    }

    /// How the watch is to begin.
    pub(super) fn watch(&self) -> Result<WatchStart, ApiError> {
        // Storage finds it here, behind what turns such errors into bad requests.
        let revision = revision(&self.version).map_err(ApiError::unexplained)?;
        Ok(match self.send_initial_events {
            Some(true) => WatchStart::Objects(revision),
            _ if revision == 0 => WatchStart::Now,
            _ => WatchStart::After(revision),
        })
    }

    /// Whether the end of the objects there are is to be marked.
    pub(super) fn marks_initial_end(&self) -> bool {
        self.send_initial_events == Some(true) && self.bookmarks
    }

    /// How long the watch may last.
    pub(super) fn timeout(&self) -> Duration {
        match self.timeout {
            None | Some(0) => WATCH_TIMEOUT,
            // A time that is over already.
            Some(seconds) => {
                Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(LONGEST_WATCH)
            }
        }
    }
}

/// A version as a number, 0 for none; or what is wrong with it.
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

fn refuse(errors: Vec<FieldError>) -> Result<(), ApiError> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", &errors))
}

#[cfg(test)]
mod tests;
