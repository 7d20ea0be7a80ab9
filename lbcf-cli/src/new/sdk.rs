//! Where the project gets `lbcf-driver-sdk` from.

use std::io;
use std::path::{Component, Path, PathBuf};

const SDK: &str = "lbcf-driver-sdk";

/// Where the SDK is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sdk {
    /// In the registry, of the version that this program was built with.
    Registry {
        /// As in `version = "0.1"`.
        version: String,
    },
    /// In a folder, mostly one of a checkout.
    Folder {
        /// The folder, as the project's manifest shall have it.
        path: String,
        /// The folder around it.
        parent: String,
        /// Its own name.
        folder: String,
    },
}

/// A folder that is not the SDK's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadSdk {
    #[error("--sdk-path {path}: not the folder of {SDK}: {why}")]
    NotThere { path: PathBuf, why: io::Error },
    #[error("--sdk-path {path}: not the folder of {SDK}: its Cargo.toml has another name")]
    Other { path: PathBuf },
    #[error("--sdk-path {path}: a path in UTF-8 without control characters is needed")]
    Text { path: PathBuf },
}

impl Sdk {
    pub(crate) fn registry() -> Self {
        let version = env!("CARGO_PKG_VERSION");
        // What cargo takes for compatible: the first two numbers as long as the first is 0.
        let compatible = version.rsplit_once('.').map_or(version, |(first, _)| first);
        Self::Registry {
            version: compatible.to_owned(),
        }
    }

    /// The SDK in `given`, or in a checkout there, seen from the folder `project`. What is given
    /// relative stays relative.
    pub(crate) fn checkout(given: &Path, project: &Path) -> Result<Self, BadSdk> {
        let found = find(given)?;
        let folder = found.file_name().unwrap_or(found.as_os_str());
        let parent = found.parent().unwrap_or(&found);
        let seen = |path: &Path| {
            let path = if given.is_absolute() {
                path.to_owned()
            } else {
                relative(path, project)
            };
            text(&path).ok_or(BadSdk::Text { path })
        };
        Ok(Self::Folder {
            path: seen(&found)?,
            parent: seen(parent)?,
            folder: text(Path::new(folder)).ok_or_else(|| BadSdk::Text {
                path: found.clone(),
            })?,
        })
    }

    /// The beginning of the dependency in the manifest.
    pub(crate) fn dependency(&self) -> String {
        match self {
            Self::Registry { version } => format!("version = {}", string(version)),
            Self::Folder { path, .. } => format!("path = {}", string(path)),
        }
    }
}

/// The SDK's folder, canonical.
fn find(given: &Path) -> Result<PathBuf, BadSdk> {
    let name_of = |folder: &Path| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))?;
        io::Result::Ok(package_name(&manifest).map(str::to_owned))
    };
    let is_sdk = |name: &Option<String>| name.as_deref() == Some(SDK);
    // People give the root of the checkout too.
    let below = given.join(SDK);
    let found = match name_of(given) {
        Ok(name) if is_sdk(&name) => given,
        _ if name_of(&below).is_ok_and(|name| is_sdk(&name)) => &below,
        Ok(_) => {
            return Err(BadSdk::Other {
                path: given.to_owned(),
            });
        }
        Err(why) => {
            return Err(BadSdk::NotThere {
                path: given.to_owned(),
                why,
            });
        }
    };
    found.canonicalize().map_err(|why| BadSdk::NotThere {
        path: given.to_owned(),
        why,
    })
}

/// The name in a manifest's `[package]`.
fn package_name(manifest: &str) -> Option<&str> {
    let package = manifest.split("[package]").nth(1)?;
    let own_lines = package.lines().skip(1).map(str::trim);
    own_lines
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let value = line.strip_prefix("name")?.trim_start().strip_prefix('=')?;
            value.trim().strip_prefix('"')?.split('"').next()
        })
}

/// The way from one folder to another, both absolute and without links.
fn relative(to: &Path, from: &Path) -> PathBuf {
    let mut to_parts = to.components().peekable();
    let mut from_parts = from.components().peekable();
    if to_parts.peek() != from_parts.peek() {
        // Another drive: there is no way.
        return to.to_owned();
    }
    while to_parts.peek().is_some() && to_parts.peek() == from_parts.peek() {
        to_parts.next();
        from_parts.next();
    }
    let up = from_parts.map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to_parts).collect();
    if way.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        way
    }
}

fn text(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    (!text.contains(char::is_control)).then(|| text.to_owned())
}

/// A text as a string of TOML, and of JSON, which escape alike what is not a control character.
pub(crate) fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text as one word for a shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_from_folder_to_folder() {
        for (to, from, way) in [
            ("/a/sdk", "/a/project", "../sdk"),
            ("/a/b/sdk", "/a/c/d/project", "../../../b/sdk"),
            ("/sdk", "/project", "../sdk"),
            ("/a", "/a/project", ".."),
            ("/a/project/sdk", "/a/project", "sdk"),
            ("/a", "/a", "."),
        ] {
            let found = relative(Path::new(to), Path::new(from));
            assert_eq!(found, Path::new(way), "{from} to {to}");
        }
    }

    #[test]
    fn the_package_s_own_name_counts() {
        let manifest = "[package]\nversion.workspace = true\nname = \"lbcf-driver-sdk\"\n";
        assert_eq!(package_name(manifest), Some(SDK));
        for other in [
            "",
            "name = \"lbcf-driver-sdk\"",
            "[package]\nname = \"other\"\n[[test]]\nname = \"lbcf-driver-sdk\"",
            "[package]\n[dependencies]\nname = \"lbcf-driver-sdk\"",
            "[workspace]\nmembers = [\"lbcf-driver-sdk\"]",
        ] {
            assert_ne!(package_name(other), Some(SDK), "{other}");
        }
    }

    #[test]
    fn the_registry_s_is_of_this_version() {
        let Sdk::Registry { version } = Sdk::registry() else {
            panic!("not from the registry");
        };
        assert!(env!("CARGO_PKG_VERSION").starts_with(&version));
        assert_eq!(version.matches('.').count(), 1, "{version}");
    }

    #[test]
    fn paths_are_quoted_for_manifest_and_shell() {
        assert_eq!(string(r#"C:\a "b""#), r#""C:\\a \"b\"""#);
        assert_eq!(quoted("../a-b/c_1.2"), "../a-b/c_1.2");
        assert_eq!(quoted("it's a path"), r"'it'\''s a path'");
        assert_eq!(quoted(""), "''");
    }
}
