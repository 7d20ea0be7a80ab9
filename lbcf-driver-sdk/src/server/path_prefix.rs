//! The path below which everything is served.

use super::ServerError;
use std::str::FromStr;

/// Served at the root with any prefix.
const RESERVED: [&str; 6] = [
    "livez",
    "readyz",
    "healthz",
    "metrics",
    "openapi.json",
    "docs",
];

/// Empty, or segments that each begin with a slash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PathPrefix(String);

impl PathPrefix {
    /// Without a slash at its end.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// A text that can be parsed, for flags.
    #[cfg(feature = "cli")]
    pub(super) fn text(prefix: &str) -> Result<String, ServerError> {
        prefix.parse::<Self>().map(|_| prefix.to_owned())
    }

    /// Appends `name`, which begins with a slash.
    pub(super) fn of(&self, name: &str) -> String {
        format!("{}{name}", self.0)
    }
}

impl FromStr for PathPrefix {
    type Err = ServerError;

    fn from_str(prefix: &str) -> Result<Self, ServerError> {
        match problem(prefix) {
            None if prefix == "/" => Ok(Self::default()),
            None => Ok(Self(prefix.to_owned())),
            Some(problem) => Err(ServerError::Prefix {
                prefix: prefix.to_owned(),
                problem,
            }),
        }
    }
}

fn problem(prefix: &str) -> Option<String> {
    if prefix.is_empty() || prefix == "/" {
        return None;
    }
    let Some(path) = prefix.strip_prefix('/') else {
        return Some("it must begin with /, such as /lbcf".into());
    };
    if let Some(rest) = prefix.strip_suffix('/') {
        return Some(format!("it must not end with /: {rest:?}"));
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Some("between two / there must be a name".into());
    }
    // Other characters have several encodings, or a meaning in patterns of routes.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    if let Some(c) = path.chars().find(|c| !is_plain(*c)) {
        return Some(format!("{c:?}: it may have letters, digits, - . _ ~ and /"));
    }
    let first = path
        .split('/')
        .next()
        .filter(|first| RESERVED.contains(first));
    first.map(|first| format!("/{first} is reserved"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_paths() {
        for prefix in ["", "/lbcf", "/a/b-c/v1.2_~", "/a/livez"] {
            let parsed: PathPrefix = prefix.parse().unwrap();
            assert_eq!(parsed.as_str(), prefix);
        }
        assert_eq!("/".parse::<PathPrefix>().unwrap().as_str(), "");
    }

    #[test]
    fn the_error_quotes_the_prefix_and_the_problem() {
        for (prefix, problem) in [
            ("lbcf", "must begin with /, such as /lbcf"),
            ("http://host/lbcf", "must begin with /"),
            ("/lbcf/", "must not end with /: \"/lbcf\""),
            ("//", "must not end with /"),
            ("/a//b", "between two / there must be a name"),
            ("/../b", "between two / there must be a name"),
            ("/{id}", "'{': it may have letters"),
            ("/a b", "' ': it may have letters"),
            ("/a?b", "'?': it may have letters"),
            ("/lbcf%20", "'%': it may have letters"),
            ("/größe", "'ö': it may have letters"),
            ("/healthz", "/healthz is reserved"),
            ("/docs/x", "/docs is reserved"),
        ] {
            let error = prefix.parse::<PathPrefix>().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
            assert!(error.contains(&format!("{prefix:?}")), "{error}");
        }
    }
}
