//! Writes the project completely or not at all, and never overwrites files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder for the project.
#[derive(Debug)]
pub(crate) struct Target {
    given: PathBuf,
    path: PathBuf,
    exists: bool,
}

/// The reason why the project cannot be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("{0}: this folder is not empty; choose another one with --path")]
    NotEmpty(PathBuf),
    #[error("{0}: a file of this name exists; choose a folder with --path")]
    NotAFolder(PathBuf),
    #[error("{path}: {why}")]
    Io { path: PathBuf, why: io::Error },
}

impl Target {
    /// Accepts a folder that does not exist or is empty.
    pub(crate) fn check(given: &Path) -> Result<Self, TargetError> {
        let given = given.to_owned();
        let failed = |why| TargetError::Io {
            path: given.clone(),
            why,
        };
        let exists = match fs::symlink_metadata(&given) {
            Ok(_) if !given.is_dir() => return Err(TargetError::NotAFolder(given)),
            Ok(_) => {
                if fs::read_dir(&given).map_err(failed)?.next().is_some() {
                    return Err(TargetError::NotEmpty(given));
                }
                true
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        let path = canonical(&given).map_err(failed)?;
        Ok(Self {
            given,
            path,
            exists,
        })
    }

    /// The absolute path, without links as far as it exists.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as the user wrote it.
    pub(crate) fn as_given(&self) -> &Path {
        &self.given
    }

    /// Writes the files, first to a temporary folder next to the target, so that a full disk does not
    /// leave part of a project behind.
    pub(crate) fn write(&self, files: &[(PathBuf, String)]) -> Result<(), TargetError> {
        let failed = |path: &Path, why| TargetError::Io {
            path: path.to_owned(),
            why,
        };
        let parent = self.path.parent().unwrap_or(&self.path);
        fs::create_dir_all(parent).map_err(|why| failed(parent, why))?;
        let staging = tempfile::Builder::new()
            .prefix(".lbcf-new-")
            .tempdir_in(parent);
        let staging = staging.map_err(|why| failed(parent, why))?;
        let project = staging.path().join("project");
        write_all(&project, files).map_err(|(path, why)| failed(&path, why))?;
        self.move_from(&project)
    }

    /// Moves the files to the target. An existing folder is not replaced, because it may be the
    /// current folder of a shell.
    fn move_from(&self, staging: &Path) -> Result<(), TargetError> {
        let failed = |why| TargetError::Io {
            path: self.given.clone(),
            why,
        };
        if !self.exists {
            return fs::rename(staging, &self.path).map_err(failed);
        }
        let mut moved_paths = Vec::new();
        let entries = fs::read_dir(staging).map_err(failed)?;
        for entry in entries {
            let moved = entry.and_then(|entry| {
                let to = self.path.join(entry.file_name());
                if to.symlink_metadata().is_ok() {
                    // Another process has created it meanwhile.
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                fs::rename(entry.path(), &to).map(|()| to)
            });
            match moved {
                Ok(to) => moved_paths.push(to),
                Err(why) => {
                    for path in moved_paths {
                        // Undoes the moves before the failure.
                        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
                    }
                    return Err(failed(why));
                }
            }
        }
        Ok(())
    }
}

fn write_all(folder: &Path, files: &[(PathBuf, String)]) -> Result<(), (PathBuf, io::Error)> {
    for (path, text) in files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|why| (path, why))?;
    }
    Ok(())
}

/// The absolute path, without links as far as it exists.
fn canonical(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    for ancestor in absolute.ancestors() {
        if let Ok(found) = ancestor.canonicalize() {
            let rest = absolute.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return Ok(if rest.as_os_str().is_empty() {
                found
            } else {
                found.join(rest)
            });
        }
    }
    Ok(absolute)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn entries(folder: &TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    fn files(names: &[&str]) -> Vec<(PathBuf, String)> {
        names
            .iter()
            .map(|name| (PathBuf::from(name), "text".to_owned()))
            .collect()
    }

    #[test]
    fn nothing_is_left_if_a_file_cannot_be_written() {
        let parent = tempfile::tempdir().unwrap();
        let target = Target::check(&parent.path().join("project")).unwrap();
        // `a` is a file, so that `a/d` cannot be written.
        let error = target.write(&files(&["a", "b/c", "a/d"])).unwrap_err();
        assert!(error.to_string().contains("a/d"), "{error}");
        assert_eq!(entries(&parent), 0);
    }

    #[test]
    fn an_existing_folder_is_unchanged_if_a_file_cannot_be_moved() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("project");
        fs::create_dir(&path).unwrap();
        let target = Target::check(&path).unwrap();
        // Meanwhile another process creates one of the files.
        fs::write(path.join("b"), "theirs").unwrap();
        target.write(&files(&["a", "b", "c/d"])).unwrap_err();
        assert_eq!(entries(&parent), 1);
        let left: Vec<_> = fs::read_dir(&path).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(fs::read_to_string(path.join("b")).unwrap(), "theirs");
    }

    #[test]
    fn a_folder_created_meanwhile_is_not_overwritten() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("project");
        let target = Target::check(&path).unwrap();
        fs::create_dir_all(path.join("theirs")).unwrap();
        target.write(&files(&["a"])).unwrap_err();
        assert_eq!(entries(&parent), 1);
        assert!(path.join("theirs").exists() && !path.join("a").exists());
    }

    #[test]
    fn missing_parent_folders_are_created() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b/project");
        let target = Target::check(&path).unwrap();
        target.write(&files(&["src/main.rs"])).unwrap();
        assert_eq!(
            fs::read_to_string(path.join("src/main.rs")).unwrap(),
            "text"
        );
    }
}
