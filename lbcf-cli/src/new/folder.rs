//! Writing the project: the whole of it or nothing, and over nobody's files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder that the project is to be in.
#[derive(Debug)]
pub(crate) struct Target {
    given: PathBuf,
    path: PathBuf,
    is_there: bool,
}

/// Why there is no project.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadTarget {
    #[error("{0}: there is something in this folder already; empty it, or name another by --path")]
    NotEmpty(PathBuf),
    #[error("{0}: there is a file of this name; name a folder by --path")]
    NotAFolder(PathBuf),
    #[error("{path}: {why}")]
    Io { path: PathBuf, why: io::Error },
}

impl Target {
    /// A folder that is not there, or empty.
    pub(crate) fn check(given: &Path) -> Result<Self, BadTarget> {
        let given = given.to_owned();
        let failed = |why| BadTarget::Io {
            path: given.clone(),
            why,
        };
        let is_there = match fs::symlink_metadata(&given) {
            Ok(_) if !given.is_dir() => return Err(BadTarget::NotAFolder(given)),
            Ok(_) => {
                if fs::read_dir(&given).map_err(failed)?.next().is_some() {
                    return Err(BadTarget::NotEmpty(given));
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
            is_there,
        })
    }

    /// Absolute and without links, as far as it is there.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// As the user knows it.
    pub(crate) fn as_given(&self) -> &Path {
        &self.given
    }

    /// Writes these files. They are written beside the folder first, so that a full disk leaves
    /// no half of a project behind.
    pub(crate) fn write(&self, files: &[(&str, String)]) -> Result<(), BadTarget> {
        let failed = |path: &Path, why| BadTarget::Io {
            path: path.to_owned(),
            why,
        };
        let parent = self.path.parent().unwrap_or(&self.path);
        fs::create_dir_all(parent).map_err(|why| failed(parent, why))?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let beside = parent.join(format!(".{name}.lbcf-new-{}", std::process::id()));
        fs::create_dir(&beside).map_err(|why| failed(&beside, why))?;
        let done = write_all(&beside, files)
            .map_err(|(path, why)| failed(&path, why))
            .and_then(|()| self.put(&beside));
        if beside.exists() {
            // It is ours, and what went wrong is told already.
            let _ = fs::remove_dir_all(&beside);
        }
        done
    }

    /// Puts what was written in its place. A folder that is there stays the same one, as somebody
    /// may be in it.
    fn put(&self, beside: &Path) -> Result<(), BadTarget> {
        let failed = |why| BadTarget::Io {
            path: self.given.clone(),
            why,
        };
        if !self.is_there {
            return fs::rename(beside, &self.path).map_err(failed);
        }
        let mut put = Vec::new();
        let entries = fs::read_dir(beside).map_err(failed)?;
        for entry in entries {
            let moved = entry.and_then(|entry| {
                let to = self.path.join(entry.file_name());
                if to.symlink_metadata().is_ok() {
                    // It came meanwhile, and is somebody's.
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                fs::rename(entry.path(), &to).map(|()| to)
            });
            match moved {
                Ok(to) => put.push(to),
                Err(why) => {
                    for path in put {
                        // Ours too.
                        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
                    }
                    return Err(failed(why));
                }
            }
        }
        Ok(())
    }
}

fn write_all(folder: &Path, files: &[(&str, String)]) -> Result<(), (PathBuf, io::Error)> {
    for (path, text) in files {
        let path = folder.join(path);
        let around = path.parent().unwrap_or(folder);
        fs::create_dir_all(around)
            .and_then(|()| fs::write(&path, text))
            .map_err(|why| (path, why))?;
    }
    Ok(())
}

/// Absolute and without links; what is not there yet is taken as it is written.
fn canonical(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    for there in absolute.ancestors() {
        if let Ok(found) = there.canonicalize() {
            let rest = absolute.strip_prefix(there).unwrap_or(Path::new(""));
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

    /// A folder of its own, which goes with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("lbcf-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn entries(&self) -> usize {
            fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn files(names: &[&'static str]) -> Vec<(&'static str, String)> {
        names
            .iter()
            .map(|name| (*name, "text".to_owned()))
            .collect()
    }

    #[test]
    fn where_a_file_cannot_be_written_nothing_is_left() {
        let around = Folder::new("half");
        let target = Target::check(&around.0.join("project")).unwrap();
        // A file cannot be a folder too.
        let error = target.write(&files(&["a", "b/c", "a/d"])).unwrap_err();
        assert!(error.to_string().contains("a/d"), "{error}");
        assert_eq!(around.entries(), 0);
    }

    #[test]
    fn where_a_file_cannot_be_put_into_an_empty_folder_it_stays_empty() {
        let around = Folder::new("put");
        let path = around.0.join("project");
        fs::create_dir(&path).unwrap();
        let target = Target::check(&path).unwrap();
        // Meanwhile somebody else puts a file where one of ours would go.
        fs::write(path.join("b"), "theirs").unwrap();
        target.write(&files(&["a", "b", "c/d"])).unwrap_err();
        assert_eq!(around.entries(), 1);
        let left: Vec<_> = fs::read_dir(&path).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(fs::read_to_string(path.join("b")).unwrap(), "theirs");
    }

    #[test]
    fn a_folder_that_came_meanwhile_is_not_written_over() {
        let around = Folder::new("meanwhile");
        let path = around.0.join("project");
        let target = Target::check(&path).unwrap();
        fs::create_dir_all(path.join("theirs")).unwrap();
        target.write(&files(&["a"])).unwrap_err();
        assert_eq!(around.entries(), 1);
        assert!(path.join("theirs").exists() && !path.join("a").exists());
    }

    #[test]
    fn folders_on_the_way_are_made() {
        let around = Folder::new("way");
        let path = around.0.join("a/b/project");
        let target = Target::check(&path).unwrap();
        target.write(&files(&["src/main.rs"])).unwrap();
        assert_eq!(
            fs::read_to_string(path.join("src/main.rs")).unwrap(),
            "text"
        );
    }
}
