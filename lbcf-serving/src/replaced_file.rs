//! Files that are replaced as a whole, so that a full disk or a process that dies leaves the old one or the new one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The file at a path, with links followed, also one that leads to no file yet.
///
/// # Errors
/// The operating system's, such as that of a folder that may not be read.
pub fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Ok(folder(path).join(target)),
            Err(_) => Ok(path.to_owned()),
        },
        found => found,
    }
}

/// A path beside this one, with another ending.
#[must_use]
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, Into::into);
    name.push(ending);
    path.with_file_name(name)
}

/// Writes another file, created as `options` say, and gives it the name of this one, which keeps its mode and may be
/// a link. Where no other file can be put in its place (a mounted file, a folder that is read-only), the file itself
/// is written, which is not atomic.
///
/// # Errors
/// The operating system's, such as that of a full disk; the file is then the old one, unless it had to be written
/// itself.
pub fn replace(path: &Path, contents: &[u8], options: &OpenOptions) -> io::Result<()> {
    let path = target(path)?;
    let new = beside(&path, &format!(".{}.tmp", std::process::id()));
    match write_as(&path, &new, contents, options) {
        Ok(()) => Ok(()),
        Err(error) => {
            // It may not exist.
            let _ = fs::remove_file(&new);
            if !cannot_be_renamed(&error) || !path.is_file() {
                return Err(error);
            }
            let mut file = OpenOptions::new().write(true).open(&path)?;
            file.write_all(contents)?;
            file.set_len(contents.len() as u64)?;
            file.sync_all()
        }
    }
}

fn write_as(path: &Path, new: &Path, contents: &[u8], options: &OpenOptions) -> io::Result<()> {
    let mut file = options.open(new)?;
    file.write_all(contents)?;
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    fs::rename(new, path)?;
    // The name is in the folder, which has to be on the disk, too.
    File::open(folder(path))?.sync_all()
}

fn cannot_be_renamed(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    [
        CrossesDevices,
        PermissionDenied,
        ReadOnlyFilesystem,
        ResourceBusy,
    ]
    .contains(&error.kind())
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
