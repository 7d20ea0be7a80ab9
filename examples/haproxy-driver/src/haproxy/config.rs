//! The files in `conf.d`: written so that at every moment, a crash included, each is complete and valid.

use super::{HaproxyError, Layout};
use crate::balancer::Balancer;
use crate::fields::LbSpec;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;

/// `haproxy -c` takes about 30 ms for one file.
const CHECK_WITHIN: Duration = Duration::from_secs(6);
/// What users see of the messages of `haproxy -c`, in characters.
const LONGEST_MESSAGE: usize = 1000;

/// Creates the folders, and a first `haproxy.cfg` if there is none.
///
/// # Errors
/// [`HaproxyError::File`].
pub fn prepare(layout: &Layout) -> Result<(), HaproxyError> {
    let conf_d = layout.conf_d();
    fs::create_dir_all(&conf_d).map_err(|error| HaproxyError::file(&conf_d, error))?;
    let base = layout.base();
    if base.exists() {
        return Ok(());
    }
    let socket = layout.runtime_socket();
    let text = include_str!("base.cfg").replace("{socket}", &socket.display().to_string());
    write(&base, &text)
}

/// The load balancer with this address, if it has a file.
///
/// # Errors
/// [`HaproxyError::File`], also for a file that nobody can understand: it is never overwritten.
pub fn read(layout: &Layout, spec: &LbSpec) -> Result<Option<Balancer>, HaproxyError> {
    read_path(&path(layout, spec))
}

/// All load balancers. Files that cannot be read are logged: they must not stop the others.
///
/// # Errors
/// [`HaproxyError::File`], when the folder cannot be read.
pub fn read_all(layout: &Layout) -> Result<Vec<Balancer>, HaproxyError> {
    let conf_d = layout.conf_d();
    let entries = fs::read_dir(&conf_d).map_err(|error| HaproxyError::file(&conf_d, error))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let ours = paths.filter(|path| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.starts_with("lb-") && name.ends_with(".cfg")
    });
    let read = ours.filter_map(|path| {
        read_path(&path).unwrap_or_else(|error| {
            tracing::error!(%error, "a load balancer's file is left alone");
            None
        })
    });
    Ok(read.collect())
}

/// Writes a file whose structure `haproxy -c` has accepted before, or that differs only in servers.
///
/// # Errors
/// [`HaproxyError::File`]; the previous file is still there then.
pub async fn write_balancer(layout: &Layout, balancer: &Balancer) -> Result<(), HaproxyError> {
    let (path, text) = (path(layout, &balancer.spec), balancer.to_file());
    off_the_runtime(move || write(&path, &text)).await
}

/// Whether the text of the file is what the driver writes: users may have changed it.
///
/// # Errors
/// [`HaproxyError::File`].
pub fn is_as_written(layout: &Layout, balancer: &Balancer) -> Result<bool, HaproxyError> {
    let path = path(layout, &balancer.spec);
    let text = fs::read_to_string(&path).map_err(|error| HaproxyError::file(&path, error))?;
    Ok(text == balancer.to_file())
}

/// Lets `haproxy -c` judge the file together with `haproxy.cfg`, before HAProxy could read it. Files of
/// other load balancers do not matter, because nothing in one refers to another.
///
/// # Errors
/// [`HaproxyError::Invalid`] with HAProxy's reasons; [`HaproxyError::File`].
pub async fn check(layout: &Layout, balancer: &Balancer) -> Result<(), HaproxyError> {
    let final_path = path(layout, &balancer.spec);
    // HAProxy reads only names that end in .cfg and do not begin with a dot.
    let candidate = final_path.with_file_name(format!(".{}.candidate", balancer.spec.name()));
    fs::write(&candidate, balancer.to_file())
        .map_err(|error| HaproxyError::file(&candidate, error))?;
    let mut command = Command::new(&layout.program);
    command
        .arg("-c")
        .arg("-f")
        .arg(layout.base())
        .arg("-f")
        .arg(&candidate);
    let output = tokio::time::timeout(CHECK_WITHIN, command.kill_on_drop(true).output()).await;
    let _ = fs::remove_file(&candidate);
    let output = output
        .map_err(|_| HaproxyError::Invalid(format!("no result within {CHECK_WITHIN:?}")))?
        .map_err(|error| HaproxyError::file(&layout.program, error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let alerts: Vec<_> = said
        .lines()
        .filter(|line| line.contains("[ALERT]"))
        .collect();
    let message = alerts.join("; ");
    let shown = message.chars().take(LONGEST_MESSAGE).collect();
    Err(HaproxyError::Invalid(shown))
}

/// Removes a file; one that does not exist is removed already.
///
/// # Errors
/// [`HaproxyError::File`].
pub async fn remove(layout: &Layout, spec: &LbSpec) -> Result<(), HaproxyError> {
    let path = path(layout, spec);
    off_the_runtime(move || match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(HaproxyError::file(&path, error)),
        _ => sync_folder(&path),
    })
    .await
}

/// A disk may take long to have written something, and webhooks must be answered meanwhile.
async fn off_the_runtime(
    write: impl FnOnce() -> Result<(), HaproxyError> + Send + 'static,
) -> Result<(), HaproxyError> {
    let written = tokio::task::spawn_blocking(write).await;
    written.unwrap_or_else(|error| Err(HaproxyError::file(Path::new("conf.d"), error)))
}

fn path(layout: &Layout, spec: &LbSpec) -> PathBuf {
    layout.conf_d().join(format!("{}.cfg", spec.name()))
}

fn read_path(path: &Path) -> Result<Option<Balancer>, HaproxyError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| HaproxyError::file(path, error))?,
    };
    Balancer::from_file(&text)
        .map(Some)
        .map_err(|problem| HaproxyError::file(path, problem))
}

/// Durable before it is visible: the content is on the disk before the name is.
fn write(path: &Path, text: &str) -> Result<(), HaproxyError> {
    let new = path.with_extension("new");
    let written = File::create(&new)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
        })
        .and_then(|()| fs::rename(&new, path));
    written.map_err(|error| HaproxyError::file(path, error))?;
    sync_folder(path)
}

fn sync_folder(path: &Path) -> Result<(), HaproxyError> {
    let folder = path.parent().unwrap_or(path);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| HaproxyError::file(folder, error))
}

#[cfg(test)]
mod tests;
