//! Load balancers that are a process and its files on the driver's machine: see
//! [the chapter](crate::guide::local) for how such a driver works.

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// Replaces a file, or creates it: at every moment, a crash of the machine included, it has the old
/// content or the new one. When this returns, the new one is on the disk.
///
/// Until then there is a second file of this name with `.new` at its end. Two calls for one path must
/// not overlap.
///
/// # Errors
/// Those of the file system; the old content is still there then.
pub async fn replace_file(path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> io::Result<()> {
    let (path, content) = (path.into(), content.into());
    off_the_runtime(move || {
        let mut name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
        name.push(".new");
        let new = path.with_file_name(name);
        let mut file = fs::File::create(&new)?;
        file.write_all(&content)?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        sync_folder_of(&path)
    })
    .await
}

/// Removes a file, and succeeds if there is none. When this returns, a crash of the machine does not bring
/// the file back.
///
/// # Errors
/// Those of the file system.
pub async fn remove_file(path: impl Into<PathBuf>) -> io::Result<()> {
    let path = path.into();
    off_the_runtime(move || match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => sync_folder_of(&path),
    })
    .await
}

/// Names are in the folder, which has to be on the disk, too.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
    fs::File::open(folder)?.sync_all()
}

/// A disk may be slow, and the runtime's threads must go on responding to other calls.
async fn off_the_runtime(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Reloads of a process, one at a time, each shared by all calls that wait for one.
///
/// A reload starts a process and reads every file. With this, a hundred load balancers that are created
/// at once cost two reloads instead of a hundred: the one in progress, and one for all others.
///
/// ```
/// # async fn example() {
/// use lbcf_driver_sdk::HookError;
/// use lbcf_driver_sdk::local::SharedReload;
///
/// async fn reload() -> Result<(), HookError> {
///     Ok(()) // such as: systemctl reload nginx
/// }
///
/// // One for the whole driver.
/// let reloads = SharedReload::default();
/// // In each call, after its file is written:
/// reloads.join(reload()).await.unwrap();
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example());
/// ```
#[derive(Debug)]
pub struct SharedReload<T> {
    asked: AtomicU64,
    last: Mutex<Option<Reload<T>>>,
}

#[derive(Debug)]
struct Reload<T> {
    /// All who had asked when it began: their files were written before.
    up_to: u64,
    result: T,
}

impl<T> Default for SharedReload<T> {
    fn default() -> Self {
        let (asked, last) = (AtomicU64::new(0), Mutex::new(None));
        Self { asked, last }
    }
}

impl<T: Clone> SharedReload<T> {
    /// Returns the result of a reload that began after this call: of `reload`, unless another caller
    /// that waited for the same one has performed it. A caller that gives up hands it to the next one.
    pub async fn join(&self, reload: impl Future<Output = T>) -> T {
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut last = self.last.lock().await;
        if let Some(done) = &*last
            && done.up_to >= ticket
        {
            return done.result.clone();
        }
        let up_to = self.asked.load(Ordering::SeqCst);
        let result = reload.await;
        let answer = result.clone();
        *last = Some(Reload { up_to, result });
        answer
    }
}
