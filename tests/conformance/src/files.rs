//! Input files, with a size limit.

use lbcf_serving::watched_file;
use std::io::ErrorKind;
use std::path::Path;

pub(crate) const NO_SUCH_FILE: &str = "no such file";

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// The problem, without the path.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    watched_file::read_any(path, limit).map_err(|error| match error.kind() {
        ErrorKind::NotFound => NO_SUCH_FILE.to_owned(),
        ErrorKind::IsADirectory => "this is a folder, not a file".to_owned(),
        _ => error.to_string(),
    })
}

pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, String> {
    String::from_utf8(read(path, limit)?).map_err(|_| "not UTF-8 text".to_owned())
}

/// Fails for a text that is longer than `limit` bytes.
pub(crate) fn within(length: usize, limit: u64) -> Result<(), String> {
    if length as u64 > limit {
        return Err(format!("longer than {limit} bytes"));
    }
    Ok(())
}
