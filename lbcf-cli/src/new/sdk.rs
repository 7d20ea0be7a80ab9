//! The dependency of a project on `lbcf-driver-sdk`.

use std::io;
use std::path::{Component, Path, PathBuf};

const SDK: &str = "lbcf-driver-sdk";

/// Where the project takes the SDK from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sdk {
    /// The registry, in the version of this program.
    Registry {
        /// The requirement, such as `0.1`.
        version: String,
    },
    /// A folder, usually in a checkout of LBCF.
    Folder {
        /// The path for the project's manifest.
        path: String,
        /// The path of the parent folder.
        parent: String,
        /// The last component of the path.
        folder: String,
    },
}

/// The reason why `--sdk-path` is rejected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SdkPathError {
    #[error("--sdk-path {path}: not the folder of {SDK}: {why}")]
    NotSdk { path: PathBuf, why: String },
    #[error("--sdk-path {path}: a path in UTF-8 without control characters is needed")]
    NotText { path: PathBuf },
}

impl Sdk {
    pub(crate) fn registry() -> Self {
        let version = env!("CARGO_PKG_VERSION");
        // Cargo treats versions 0.x.* as compatible.
        let compatible = version.rsplit_once('.').map_or(version, |(first, _)| first);
        Self::Registry {
            version: compatible.to_owned(),
        }
    }

    /// The SDK in the checkout that this program was built in.
    pub(crate) fn beside_this_program(project: &Path) -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let mut folders = program.ancestors().skip(1);
        folders.find_map(|folder| Self::checkout(folder, project).ok())
    }

    /// The SDK in the folder `given`, or in the checkout there, for a project in the folder `project`.
    /// A relative path is made relative to the project.
    pub(crate) fn checkout(given: &Path, project: &Path) -> Result<Self, SdkPathError> {
        let found = find(given)?;
        let folder = found.file_name().unwrap_or(found.as_os_str());
        let parent = found.parent().unwrap_or(&found);
        let for_project = |path: &Path| {
            let path = if given.is_absolute() {
                path.to_owned()
            } else {
                relative(path, project)
            };
            text(&path).ok_or(SdkPathError::NotText { path })
        };
        Ok(Self::Folder {
            path: for_project(&found)?,
            parent: for_project(parent)?,
            folder: text(Path::new(folder)).ok_or_else(|| SdkPathError::NotText {
                path: found.clone(),
            })?,
        })
    }

    /// Where the project finds the SDK, and what to do if it does not.
    pub(crate) fn note(&self) -> String {
        match self {
            Self::Registry { version } => format!(
                "It needs {SDK} {version} from the registry. As long as that has not been published, create it with \
                 --sdk-path DIR,\nwhere DIR is a checkout of LBCF."
            ),
            Self::Folder { path, .. } => format!("It uses {SDK} in {path}."),
        }
    }

    /// The first key of the dependency's table in the manifest.
    pub(crate) fn dependency(&self) -> String {
        match self {
            Self::Registry { version } => format!("version = {}", string(version)),
            Self::Folder { path, .. } => format!("path = {}", string(path)),
        }
    }
}

/// The canonical path of the SDK's folder.
fn find(given: &Path) -> Result<PathBuf, SdkPathError> {
    let name_of = |folder: &Path| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))?;
        io::Result::Ok(package_name(&manifest).map(str::to_owned))
    };
    let not_sdk = |why| SdkPathError::NotSdk {
        path: given.to_owned(),
        why,
    };
    let is_sdk = |name: &Option<String>| name.as_deref() == Some(SDK);
    // The root of a checkout is accepted, too.
    let below = given.join(SDK);
    let found = match name_of(given) {
        Ok(name) if is_sdk(&name) => given,
        _ if name_of(&below).is_ok_and(|name| is_sdk(&name)) => &below,
        Ok(_) => return Err(not_sdk("its Cargo.toml has another name".to_owned())),
        Err(error) => return Err(not_sdk(error.to_string())),
    };
    let found = found.canonicalize();
    found.map_err(|error| not_sdk(error.to_string()))
}

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

/// The relative path from one folder to another, both canonical.
fn relative(to: &Path, from: &Path) -> PathBuf {
    let mut to_parts = to.components().peekable();
    let mut from_parts = from.components().peekable();
    if to_parts.peek() != from_parts.peek() {
        // Another drive: there is no relative path.
        return to.to_owned();
    }
    while to_parts.peek().is_some() && to_parts.peek() == from_parts.peek() {
        to_parts.next();
        from_parts.next();
    }
    let up = from_parts.map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to_parts).collect();
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}

fn text(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    (!text.contains(char::is_control)).then(|| text.to_owned())
}

/// A string literal of TOML and JSON, for texts without control characters.
pub(crate) fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_between_folders() {
        for (to, from, path) in [
            ("/a/sdk", "/a/project", "../sdk"),
            ("/a/b/sdk", "/a/c/d/project", "../../../b/sdk"),
            ("/sdk", "/project", "../sdk"),
            ("/a", "/a/project", ".."),
            ("/a/project/sdk", "/a/project", "sdk"),
            ("/a", "/a", "."),
        ] {
            let found = relative(Path::new(to), Path::new(from));
            assert_eq!(found, Path::new(path), "{from} to {to}");
        }
    }

    #[test]
    fn the_name_is_that_of_the_package() {
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
    fn the_registry_version_is_that_of_this_program() {
        let Sdk::Registry { version } = Sdk::registry() else {
            panic!("not from the registry");
        };
        assert!(env!("CARGO_PKG_VERSION").starts_with(&version));
        assert_eq!(version.matches('.').count(), 1, "{version}");
    }

    #[test]
    fn paths_are_quoted_for_the_manifest() {
        assert_eq!(string(r#"C:\a "b""#), r#""C:\\a \"b\"""#);
    }
}
