//! Writes files atomically, and overwrites existing ones only on request.

use crate::output::replace;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The file exists, and `--force` is not set.
    #[error("{}: the file exists; --force overwrites it", .0.display())]
    Exists(PathBuf),
    /// The path is that of a folder.
    #[error("{}: this is a folder, not a file", .0.display())]
    IsAFolder(PathBuf),
    /// An error of the system.
    #[error("{}: {why}", path.display())]
    Io {
        /// The file, or the folder around it.
        path: PathBuf,
        /// The error of the system.
        why: io::Error,
    },
}

/// Verifies that a file may be written.
pub(super) fn check(path: &Path, force: bool) -> Result<(), InitError> {
    match fs::symlink_metadata(path) {
        Ok(_) if path.is_dir() => Err(InitError::IsAFolder(path.to_owned())),
        Ok(_) if !force => Err(InitError::Exists(path.to_owned())),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(why) => Err(failed(path, why)),
    }
}

/// Writes a file, and creates its folders.
pub(super) fn write(path: &Path, text: &str, force: bool) -> Result<(), InitError> {
    check(path, force)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(folder).map_err(|why| failed(folder, why))?;
    }
    if force {
        // The target of a link is replaced, not the link.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        return replace(&target, text).map_err(|why| failed(path, why));
    }
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut opened = opened.map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => InitError::Exists(path.to_owned()),
        _ => failed(path, why),
    })?;
    opened.write_all(text.as_bytes()).map_err(|why| {
        let _ = fs::remove_file(path);
        failed(path, why)
    })
}

fn failed(path: &Path, why: io::Error) -> InitError {
    InitError::Io {
        path: path.to_owned(),
        why,
    }
}
