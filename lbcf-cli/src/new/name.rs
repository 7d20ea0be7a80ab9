//! Which names will do. A project's name becomes a crate, a Service and part of a
//! `LoadBalancerDriver`, and stands unquoted in YAML.

use std::fmt;
use std::str::FromStr;

/// The namespace of drivers that are for all namespaces (b53).
const SYSTEM_NAMESPACE: &str = "kube-system";
/// What the names of such drivers start with, and no others.
const SYSTEM_PREFIX: &str = "lbcf-";

/// The most that Kubernetes takes for a Service and a label.
const MOST: usize = 63;

/// A crate cannot be called like this.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// A crate of this name would stand in the way of another one.
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
/// Cargo has folders of this name beside its programs, and some systems have devices.
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
/// YAML takes these for something else than text.
const YAML: &[&str] = &["n", "no", "null", "off", "on", "y", "yes"];

/// A name that will not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?}: {why}")]
pub(crate) struct BadName {
    name: String,
    why: String,
}

/// A project's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// What the crate is called in Rust.
    pub(crate) fn crate_name(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl FromStr for Name {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let refuse = |why: &str| {
            Err(BadName {
                name: text.to_owned(),
                why: why.to_owned(),
            })
        };
        if let Some(why) = unless_label(text, MOST - SYSTEM_PREFIX.len()) {
            return refuse(&why);
        }
        if !text.starts_with(|first: char| first.is_ascii_lowercase()) {
            return refuse("a crate's name begins with a letter");
        }
        if text.contains("--") {
            return refuse("a crate's name has no two hyphens in a row");
        }
        let taken = |names: &[&str]| names.contains(&text);
        if taken(KEYWORDS) {
            return refuse("a keyword of Rust; add something, such as -driver");
        }
        if taken(CRATES) {
            return refuse(
                "the name of a crate that drivers are built with; add something, such as -driver",
            );
        }
        if taken(FILES) {
            return refuse(
                "a name that cargo or the file system needs; add something, such as -driver",
            );
        }
        if taken(YAML) {
            return refuse(
                "YAML takes it for something else than text; add something, such as -driver",
            );
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Namespace(String);

impl Namespace {
    /// Whether a driver that lives here is for all namespaces.
    pub(crate) fn is_system(&self) -> bool {
        self.0 == SYSTEM_NAMESPACE
    }
}

impl FromStr for Namespace {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let why = unless_label(text, MOST).or_else(|| {
            // Numbers are written in many ways, and dates are as well.
            let may_be_number = text.starts_with(|first: char| first.is_ascii_digit())
                && text
                    .chars()
                    .all(|c| c.is_ascii_hexdigit() || "ox-".contains(c));
            (may_be_number || YAML.contains(&text) || ["true", "false"].contains(&text))
                .then(|| "YAML takes it for something else than text".to_owned())
        });
        match why {
            Some(why) => Err(BadName {
                name: text.to_owned(),
                why,
            }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of the `LoadBalancerDriver`: it starts with `lbcf-` just where the driver is for all
/// namespaces (b53).
pub(crate) fn driver_object(name: &Name, namespace: &Namespace) -> Result<String, BadName> {
    match (name.0.starts_with(SYSTEM_PREFIX), namespace.is_system()) {
        (false, true) => Ok(format!("{SYSTEM_PREFIX}{name}")),
        (true, false) => Err(BadName {
            name: name.0.clone(),
            why: format!(
                "only drivers in {SYSTEM_NAMESPACE}, which are for all namespaces, may start with {SYSTEM_PREFIX:?}, and this one is for {namespace}"
            ),
        }),
        _ => Ok(name.0.clone()),
    }
}

/// Why a text is no DNS label.
fn unless_label(text: &str, most: usize) -> Option<String> {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=most).contains(&text.len())
        && text.bytes().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    (!fits).then(|| {
        format!(
            "not 1 to {most} lower-case letters, digits and hyphens, with no hyphen at the ends"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str) -> String {
        name.parse::<Name>().unwrap_err().to_string()
    }

    #[test]
    fn names_that_will_do() {
        let longest = "a".repeat(58);
        for name in ["demo-driver", "a", "f5", "lbcf-clb", "x-2-y", &longest] {
            assert_eq!(name.parse::<Name>().unwrap().as_str(), name);
        }
        let name: Name = "my-f5-driver".parse().unwrap();
        assert_eq!(name.crate_name(), "my_f5_driver");
    }

    #[test]
    fn names_that_kubernetes_or_cargo_would_not_take_are_refused_with_value_and_reason() {
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
                refusal(name),
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
            let refusal = refusal(name);
            assert!(refusal.starts_with(&format!("{name:?}: ")), "{refusal}");
            assert!(refusal.contains(reason), "{refusal}");
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
        let refusal = object("lbcf-demo", "team-a").unwrap_err();
        assert!(refusal.contains("\"lbcf-demo\"") && refusal.contains("team-a"));
    }

    #[test]
    fn namespaces_are_labels_that_yaml_takes_for_text() {
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
            let refusal = namespace.parse::<Namespace>().unwrap_err().to_string();
            assert!(
                refusal.starts_with(&format!("{namespace:?}: ")),
                "{refusal}"
            );
        }
    }
}
