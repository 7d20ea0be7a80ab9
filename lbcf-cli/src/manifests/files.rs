//! Manifests in files and folders, as `kubectl apply -f` finds them.

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use lbcf_controller::conversion::{self, ManifestFile};
use serde_json::Value;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// The limit of a file, in bytes.
const LONGEST: u64 = 8 << 20;

/// An object in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) object: DynamicObject,
}

impl Manifest {
    /// True if applying one of them changes what the other one has applied.
    pub(crate) fn is_of_same_object(&self, other: &Self) -> bool {
        let key = |it: &Self| {
            let meta = &it.object.metadata;
            (
                it.object.types.clone(),
                meta.namespace.clone(),
                meta.name.clone(),
            )
        };
        key(self) == key(other)
    }

    /// The kind; empty if there is none.
    pub(crate) fn kind(&self) -> &str {
        self.object.types.as_ref().map_or("", |types| &types.kind)
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&described(&self.object))
    }
}

/// Kind, namespace and name.
pub(super) fn described(object: &DynamicObject) -> String {
    let kind = object.types.as_ref().map_or("", |types| &types.kind);
    let namespace = object.metadata.namespace.iter();
    let namespace: String = namespace.flat_map(|it| [it.as_str(), "/"]).collect();
    format!("{kind} {namespace}{}", object.name_any())
}

/// The manifests below the paths, in their order; those of a folder in the order of the files' names.
///
/// # Errors
/// Which file cannot be used, and why.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Manifest>, String> {
    match read_each(paths) {
        (manifests, problems) if problems.is_empty() => Ok(manifests),
        (_, problems) => Err(problems.join("\n")),
    }
}

/// The manifests of the files that can be used, and why others cannot.
pub(crate) fn read_each(paths: &[PathBuf]) -> (Vec<Manifest>, Vec<String>) {
    let (mut manifests, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let found = files(path).map_err(|error| format!("{}: {error}", path.display()));
        let read_files = |found: Vec<PathBuf>| found.iter().map(|it| read(it)).collect::<Vec<_>>();
        for read in found.map_or_else(|problem| vec![Err(problem)], read_files) {
            match read {
                Ok(read) => manifests.extend(read),
                Err(problem) => problems.push(problem),
            }
        }
    }
    (manifests, problems)
}

/// The file, or the manifests in the folder, without those in folders of it.
pub(crate) fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        if ["yaml", "yml", "json"].contains(&extension) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Result<Vec<Manifest>, String> {
    let name = file.display().to_string();
    let at = |problem: String| format!("{name}: {problem}");
    let length = std::fs::metadata(file)
        .map_err(|error| at(error.to_string()))?
        .len();
    if length > LONGEST {
        return Err(at(format!(
            "has {length} bytes; at most {LONGEST} are allowed"
        )));
    }
    let text = std::fs::read_to_string(file).map_err(|error| at(error.to_string()))?;
    parse(&name, text)
}

/// The objects of a text, separated by lines of `---`; errors have the name of the file.
pub(crate) fn parse(name: &str, text: String) -> Result<Vec<Manifest>, String> {
    let file = ManifestFile {
        name: name.to_owned(),
        text,
    };
    let objects = conversion::read(&file).map_err(|errors| errors.to_string())?;
    let manifests = objects.into_iter().map(manifest);
    let manifests: Result<_, _> = manifests.collect();
    manifests.map_err(|problem: String| format!("{name}: {problem}"))
}

fn manifest(value: Value) -> Result<Manifest, String> {
    let object: DynamicObject =
        serde_json::from_value(value).map_err(|error| format!("not a manifest: {error}"))?;
    if object.types.is_none() {
        return Err("apiVersion, kind: both are required".to_owned());
    }
    let manifest = Manifest { object };
    if manifest.object.metadata.name.is_none() {
        return Err(format!("{}: metadata.name: is required", manifest.kind()));
    }
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_have_several_manifests_and_comments() {
        let text = "# The first.\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\n---\n---\n\
            apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
        let read: Vec<_> = parse("a.yaml", text.to_owned())
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(read, ["Pod shop/a", "Namespace shop"]);
        assert_eq!(parse("a.yaml", "# Nothing.\n".to_owned()).unwrap().len(), 0);
    }

    #[test]
    fn what_is_no_manifest_is_refused_with_the_reason() {
        for (text, problem) in [
            ("a: [", "line 1"),
            ("- 1", "must be an object with apiVersion and kind"),
            ("metadata: {name: a}", "apiVersion, kind"),
            (
                "apiVersion: v1\nkind: Pod\n",
                "Pod: metadata.name: is required",
            ),
            ("apiVersion: v1\nkind: Pod\nmetadata: 1\n", "not a manifest"),
        ] {
            let error = parse("a.yaml", text.to_owned()).unwrap_err();
            assert!(error.contains(problem), "{text:?}: {error}");
        }
    }

    #[test]
    fn files_of_a_folder_are_in_order_and_others_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["20-b.yml", "10-a.yaml", "README.md", "30-c.json"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("more.yaml")).unwrap();
        let found = files(folder.path()).unwrap();
        let names: Vec<_> = found
            .iter()
            .filter_map(|it| it.file_name()?.to_str())
            .collect();
        assert_eq!(names, ["10-a.yaml", "20-b.yml", "30-c.json"]);
        let missing = read_all(&["/no/such/file.yaml".into()]).unwrap_err();
        assert!(missing.starts_with("/no/such/file.yaml: "), "{missing}");
    }
}
