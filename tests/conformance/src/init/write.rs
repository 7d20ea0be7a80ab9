//! Writing files: over nobody's, unless that is asked for, and whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that was not written, or not looked for.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Something is there already.
    #[error("{}: it is there already; --force writes over it", .0.display())]
    IsThere(PathBuf),
    /// It is not where a file can be.
    #[error("{}: this is a folder, where a file is to be written", .0.display())]
    IsAFolder(PathBuf),
    /// It cannot be written.
    #[error("{}: {why}", path.display())]
    Io {
        /// The file, or the folder around it.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
}

/// A file that is to be written.
#[derive(Debug, Clone)]
pub(super) struct ToWrite {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// Whether a file may be written, before anything is done for it.
pub(super) fn check(path: &Path, force: bool) -> Result<(), InitError> {
    match fs::symlink_metadata(path) {
        Ok(_) if path.is_dir() => Err(InitError::IsAFolder(path.to_owned())),
        Ok(_) if !force => Err(InitError::IsThere(path.to_owned())),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(why) => Err(failed(path, why)),
    }
}

/// Writes a file, and makes the folders around it.
pub(super) fn write(file: &ToWrite, force: bool) -> Result<(), InitError> {
    let path = &file.path;
    check(path, force)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(folder).map_err(|why| failed(folder, why))?;
    }
    if force {
        return replace(path, &file.text);
    }
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut opened = opened.map_err(|why| match why.kind() {
        // It came meanwhile, and is somebody's.
        ErrorKind::AlreadyExists => InitError::IsThere(path.clone()),
        _ => failed(path, why),
    })?;
    opened.write_all(file.text.as_bytes()).map_err(|why| {
        // It is ours, and what went wrong is told already.
        let _ = fs::remove_file(path);
        failed(path, why)
    })
}

/// Writes beside the file first, so that a full disk leaves the old one as it was. Where the path
/// is a link, what it leads to is replaced.
fn replace(path: &Path, text: &str) -> Result<(), InitError> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.new-{}", std::process::id()));
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|why| {
            // As above.
            let _ = fs::remove_file(&beside);
            failed(path, why)
        })
}

fn failed(path: &Path, why: io::Error) -> InitError {
    InitError::Io {
        path: path.to_owned(),
        why,
    }
}
