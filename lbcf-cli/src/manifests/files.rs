//! Manifests in files and folders, as `kubectl apply -f` finds them.

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::Value;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// The limit of a file, in bytes.
const LONGEST: u64 = 8 << 20;

/// An object in a file.
#[derive(Debug, Clone)]
pub(crate) struct Manifest {
    pub(crate) object: DynamicObject,
}

impl Manifest {
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
    let mut all = Vec::new();
    for path in paths {
        for file in files(path).map_err(|error| format!("{}: {error}", path.display()))? {
            let read = read(&file).map_err(|problem| format!("{}: {problem}", file.display()))?;
            all.extend(read);
        }
    }
    Ok(all)
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
    let length = std::fs::metadata(file)
        .map_err(|error| error.to_string())?
        .len();
    if length > LONGEST {
        return Err(format!("has {length} bytes; at most {LONGEST} are allowed"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    parse(&text)
}

/// The objects of a text, separated by lines of `---`.
pub(crate) fn parse(text: &str) -> Result<Vec<Manifest>, String> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).map_err(|error| error.to_string())?;
    let objects = documents.into_iter().filter(|it| !it.is_null());
    objects.map(manifest).collect()
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
        let read: Vec<_> = parse(text)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(read, ["Pod shop/a", "Namespace shop"]);
        assert_eq!(parse("# Nothing.\n").unwrap().len(), 0);
    }

    #[test]
    fn what_is_no_manifest_is_refused_with_the_reason() {
        for (text, problem) in [
            ("a: [", "line 1"),
            ("- 1", "not a manifest"),
            ("metadata: {name: a}", "apiVersion, kind"),
            (
                "apiVersion: v1\nkind: Pod\n",
                "Pod: metadata.name: is required",
            ),
            ("apiVersion: v1\nkind: Pod\nmetadata: 1\n", "not a manifest"),
        ] {
            let error = parse(text).unwrap_err();
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
