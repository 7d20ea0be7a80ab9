//! HAProxy's own configuration, and its judgement on that of a load balancer.

use super::Layout;
use crate::balancer::Balancer;
use lbcf_driver_sdk::{HookError, OrOutcome as _};
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::fs;
use tokio::time::timeout;

/// `haproxy -c` takes about 30 ms for one file.
const CHECK_WITHIN: Duration = Duration::from_secs(6);
/// The part of the messages of `haproxy -c` that users see, in characters.
const LONGEST_MESSAGE: usize = 1000;

/// Creates a first `haproxy.cfg` if there is none.
pub fn prepare(layout: &Layout) -> io::Result<()> {
    let socket = layout.runtime_socket.display().to_string();
    let text = include_str!("base.cfg").replace("{socket}", &socket);
    if layout.base.exists() {
        return Ok(());
    }
    std::fs::write(&layout.base, text)
}

/// Lets `haproxy -c` judge the file together with `haproxy.cfg`, before HAProxy could read it. Files of
/// other load balancers do not matter, because nothing in one refers to another.
pub async fn check(layout: &Layout, balancer: &Balancer) -> Result<(), HookError> {
    // HAProxy reads only names that end in .cfg and do not begin with a dot.
    let name = format!(".{}.candidate", balancer.name());
    let candidate = layout.conf_d.join(name);
    let written = fs::write(&candidate, balancer.directives()).await;
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

fn failed(path: &Path, problem: impl Display) -> HookError {
    HookError::fail(format!("{}: {problem}", path.display()))
}
