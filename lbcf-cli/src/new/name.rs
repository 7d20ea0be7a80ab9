//! Validation of names. A project's name is used for a crate, a Service and a `LoadBalancerDriver`, and
//! appears unquoted in YAML.

use lbcf_controller::names::{SYSTEM_NAMESPACE, SYSTEM_PREFIX};
use std::fmt;
use std::str::FromStr;

/// The maximum length of a DNS label, in bytes.
const MAX_LENGTH: usize = 63;

/// Keywords are not valid as names of crates.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Crates that a driver depends on, or that cargo reserves.
const CRATES: &[&str] = &[
    "alloc",
    "clap",
    "core",
    "lbcf-driver-sdk",
    "proc-macro",
    "serde",
    "serde-json",
    "std",
    "test",
    "thiserror",
    "tokio",
];
/// Folders in cargo's target folder, and device names of some systems.
const FILES: &[&str] = &[
    "aux",
    "build",
    "con",
    "deps",
    "examples",
    "incremental",
    "nul",
    "prn",
];
/// Words that YAML does not read as strings.
const YAML: &[&str] = &["n", "no", "null", "off", "on", "y", "yes"];
const NO_STRING: &str = "YAML does not read it as a string";

/// A name that is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?}: {why}")]
pub(crate) struct NameError {
    name: String,
    why: String,
}

/// A valid name of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The crate's name in Rust code.
    pub(crate) fn crate_name(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if let Some(why) = label_error(text, MAX_LENGTH - SYSTEM_PREFIX.len()) {
            return Err(rejected(text, why));
        }
        let taken = [
            (KEYWORDS, "a keyword of Rust"),
            (CRATES, "the name of a crate that drivers depend on"),
            (FILES, "a name that cargo or the file system reserves"),
            (YAML, NO_STRING),
        ];
        if !text.starts_with(|first: char| first.is_ascii_lowercase()) {
            Err(rejected(text, "a crate's name begins with a letter"))
        } else if text.contains("--") {
            Err(rejected(text, "a crate's name has no two hyphens in a row"))
        } else if let Some((_, why)) = taken.iter().find(|(names, _)| names.contains(&text)) {
            let why = format!("{why}; add a suffix such as -driver");
            Err(rejected(text, why))
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A valid name of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Namespace(String);

impl Namespace {
    /// All namespaces may use a driver in this namespace.
    pub(crate) fn is_system(&self) -> bool {
        self.0 == SYSTEM_NAMESPACE
    }
}

impl FromStr for Namespace {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let why = label_error(text, MAX_LENGTH).or_else(|| {
            // Numbers and dates have many notations.
            let may_be_number = text.starts_with(|first: char| first.is_ascii_digit())
                && text
                    .chars()
                    .all(|c| c.is_ascii_hexdigit() || "ox-".contains(c));
            (may_be_number || YAML.contains(&text) || ["true", "false"].contains(&text))
                .then(|| NO_STRING.to_owned())
        });
        match why {
            Some(why) => Err(rejected(text, why)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of the `LoadBalancerDriver`, which starts with `lbcf-` if and only if all namespaces may
/// use the driver.
pub(crate) fn driver_object(name: &Name, namespace: &Namespace) -> Result<String, NameError> {
    match (name.0.starts_with(SYSTEM_PREFIX), namespace.is_system()) {
        (false, true) => Ok(format!("{SYSTEM_PREFIX}{name}")),
        (true, false) => {
            let why = format!(
                "only names of drivers in {SYSTEM_NAMESPACE} may start with {SYSTEM_PREFIX:?}, and this driver is in {namespace}"
            );
            Err(rejected(&name.0, why))
        }
        _ => Ok(name.0.clone()),
    }
}

fn rejected(name: &str, why: impl Into<String>) -> NameError {
    NameError {
        name: name.to_owned(),
        why: why.into(),
    }
}

/// The reason why a text is not a DNS label of at most `max` bytes.
fn label_error(text: &str, max: usize) -> Option<String> {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=max).contains(&text.len())
        && text.bytes().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    (!fits).then(|| {
        format!("not 1 to {max} lower-case letters, digits and hyphens, with no hyphen at the ends")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(name: &str) -> String {
        name.parse::<Name>().unwrap_err().to_string()
    }

    #[test]
    fn valid_names_are_accepted() {
        let longest = "a".repeat(58);
        for name in ["demo-driver", "a", "f5", "lbcf-clb", "x-2-y", &longest] {
            assert_eq!(name.parse::<Name>().unwrap().as_str(), name);
        }
        let name: Name = "my-f5-driver".parse().unwrap();
        assert_eq!(name.crate_name(), "my_f5_driver");
    }

    #[test]
    fn names_that_kubernetes_or_cargo_reject_are_rejected_with_value_and_reason() {
        let too_long = "a".repeat(59);
        for name in [
            "",
            "-a",
            "a-",
            "Demo",
            "my_driver",
            "a.b",
            "a/b",
            "../a",
            "ä",
            "a b",
            &too_long,
        ] {
            assert_eq!(
                rejection(name),
                format!(
                    "{name:?}: not 1 to 58 lower-case letters, digits and hyphens, with no hyphen at the ends"
                )
            );
        }
        for (name, reason) in [
            ("3com", "begins with a letter"),
            ("a--b", "two hyphens"),
            ("match", "keyword"),
            ("gen", "keyword"),
            ("std", "crate"),
            ("tokio", "crate"),
            ("lbcf-driver-sdk", "crate"),
            ("build", "cargo"),
            ("nul", "cargo"),
            ("null", "YAML"),
            ("yes", "YAML"),
        ] {
            let rejection = rejection(name);
            assert!(rejection.starts_with(&format!("{name:?}: ")), "{rejection}");
            assert!(rejection.contains(reason), "{rejection}");
        }
    }

    #[test]
    fn b53_only_drivers_for_all_namespaces_start_with_lbcf() {
        let object = |name: &str, namespace: &str| {
            driver_object(&name.parse().unwrap(), &namespace.parse().unwrap())
                .map_err(|error| error.to_string())
        };
        assert_eq!(object("demo", "kube-system"), Ok("lbcf-demo".into()));
        assert_eq!(object("lbcf-demo", "kube-system"), Ok("lbcf-demo".into()));
        assert_eq!(object("demo", "team-a"), Ok("demo".into()));
        let rejection = object("lbcf-demo", "team-a").unwrap_err();
        assert!(rejection.contains("\"lbcf-demo\"") && rejection.contains("team-a"));
    }

    #[test]
    fn namespaces_are_labels_that_yaml_reads_as_strings() {
        assert!("team-1".parse::<Namespace>().is_ok());
        assert!("1st".parse::<Namespace>().is_ok());
        for namespace in [
            "",
            "Team",
            "team_1",
            "123",
            "1e3",
            "0x1f",
            "2026-01-02",
            "no",
            "true",
            &"a".repeat(64),
        ] {
            let rejection = namespace.parse::<Namespace>().unwrap_err().to_string();
            assert!(
                rejection.starts_with(&format!("{namespace:?}: ")),
                "{rejection}"
            );
        }
    }
}
