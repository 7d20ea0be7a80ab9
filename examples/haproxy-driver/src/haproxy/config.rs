//! The files in `conf.d`: written so that at every moment, a crash included, each is complete and valid.

#[cfg(test)]
mod tests;

use super::Layout;
use crate::balancer::{Balancer, name};
use lbcf_driver_sdk::local::{remove_file, replace_file};
use lbcf_driver_sdk::{HookError, OrOutcome as _};
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::fs;
use tokio::time::timeout;

/// `haproxy -c` takes about 30 ms for one file.
const CHECK_WITHIN: Duration = Duration::from_secs(6);
/// The part of the messages of `haproxy -c` that users see, in characters.
const LONGEST_MESSAGE: usize = 1000;

/// Creates the folders, and a first `haproxy.cfg` if there is none.
pub fn prepare(layout: &Layout) -> io::Result<()> {
    std::fs::create_dir_all(&layout.conf_d)?;
    let socket = layout.runtime_socket.display().to_string();
    let text = include_str!("base.cfg").replace("{socket}", &socket);
    if layout.base.exists() {
        return Ok(());
    }
    std::fs::write(&layout.base, text)
}

/// The load balancer with this listener, if it has a file. A file that cannot be parsed is an error, and the
/// driver never overwrites it.
pub fn read(layout: &Layout, listener: SocketAddr) -> Result<Option<Balancer>, HookError> {
    read_file(&path(layout, &name(listener)))
}

/// All load balancers. Files that cannot be read are logged: they must not stop the others.
pub fn read_all(layout: &Layout) -> Result<Vec<Balancer>, HookError> {
    let folder = &layout.conf_d;
    let entries = std::fs::read_dir(folder).map_err(|error| failed(folder, error))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let ours = names.filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("lb-") && name.ends_with(".cfg")
    });
    let read = ours.filter_map(|name| {
        read_file(&folder.join(name)).unwrap_or_else(|error| {
            tracing::error!(%error, "a load balancer's file is left alone");
            None
        })
    });
    Ok(read.collect())
}

fn read_file(path: &Path) -> Result<Option<Balancer>, HookError> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
        Ok(text) => {
            let balancer = Balancer::from_file(&text);
            balancer.map(Some).map_err(|problem| failed(path, problem))
        }
    }
}

/// Writes a file, if it differs, whose structure `haproxy -c` has accepted before.
pub async fn write(layout: &Layout, balancer: &Balancer) -> Result<(), HookError> {
    let (path, text) = (path(layout, &balancer.name()), balancer.to_file());
    let written = fs::read_to_string(&path).await;
    if written.is_ok_and(|written| written == text) {
        return Ok(());
    }
    let replaced = replace_file(&path, text).await;
    replaced.map_err(|error| failed(&path, error))
}

/// Removes a file; one that does not exist is removed already.
pub async fn remove(layout: &Layout, listener: SocketAddr) -> Result<(), HookError> {
    let path = path(layout, &name(listener));
    let removed = remove_file(&path).await;
    removed.map_err(|error| failed(&path, error))
}

/// Lets `haproxy -c` judge the file together with `haproxy.cfg`, before HAProxy could read it. Files of
/// other load balancers do not matter, because nothing in one refers to another.
pub async fn check(layout: &Layout, balancer: &Balancer) -> Result<(), HookError> {
    // HAProxy reads only names that end in .cfg and do not begin with a dot.
    let name = format!(".{}.candidate", balancer.name());
    let candidate = layout.conf_d.join(name);
    let written = fs::write(&candidate, balancer.to_file()).await;
    written.map_err(|error| failed(&candidate, error))?;
    let mut command = layout.command(&["-c"], &candidate);
    let output = timeout(CHECK_WITHIN, command.kill_on_drop(true).output()).await;
    let _ = fs::remove_file(&candidate).await;
    let output = output.or_fail(format!("haproxy -c: no result within {CHECK_WITHIN:?}"))?;
    let output = output.map_err(|error| failed(&layout.program, error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let alerts = said.lines().filter(|line| line.contains("[ALERT]"));
    let message = format!("haproxy -c: {}", alerts.collect::<Vec<_>>().join("; "));
    let shown: String = message.chars().take(LONGEST_MESSAGE).collect();
    Err(HookError::fail(shown))
}

fn path(layout: &Layout, name: &str) -> PathBuf {
    layout.conf_d.join(format!("{name}.cfg"))
}

fn failed(path: &Path, problem: impl Display) -> HookError {
    HookError::fail(format!("{}: {problem}", path.display()))
}
