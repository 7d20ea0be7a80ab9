//! Changes of a file that a crash of the machine leaves done or not begun.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// Until it is done there is a second file of this name with `.new` at its end.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = fs::File::create(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    sync_folder_of(path)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => sync_folder_of(path),
    }
}

/// Names are in the folder, which has to be on the disk, too.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
    fs::File::open(folder)?.sync_all()
}
