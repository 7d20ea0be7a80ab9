//! Files and folders for their owner alone, whatever the umask is. Those that exist keep their permissions.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Options that create a file, or empty one that exists.
#[must_use]
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder and those above it.
///
/// # Errors
/// The operating system's.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
