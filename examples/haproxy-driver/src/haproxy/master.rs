//! The master process: it lives as long as HAProxy, starts a new worker at each reload, and knows the
//! workers of earlier reloads, which end when their last session does.

#[cfg(test)]
mod tests;

use super::Layout;
use super::socket::ask;
use lbcf_driver_sdk::HookError;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time that a reload may take: HAProxy reads all files and starts a worker.
const RELOAD_WITHIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processes {
    /// The number of reloads, with those that failed.
    pub reloads: u64,
    /// The worker that takes sessions.
    pub worker: Option<u32>,
    /// Workers of earlier reloads that still have sessions.
    pub old_workers: Vec<u32>,
}

pub async fn processes(layout: &Layout) -> Result<Processes, HookError> {
    let response = ask(&layout.master_socket, "show proc").await?;
    Ok(read_processes(&response))
}

/// Sends a command to one worker, also to an old one, which has no socket of its own any more. A worker
/// may end at any time, and then responds nothing.
pub(super) async fn ask_worker(layout: &Layout, worker: u32, command: &str) -> String {
    let command = format!("@!{worker} {command}");
    let response = ask(&layout.master_socket, &command).await;
    response.unwrap_or_default()
}

/// Loads the files, and returns when the new worker takes sessions, or with `false` when HAProxy cannot
/// load them and goes on with the previous worker.
pub async fn reload(layout: &Layout) -> Result<bool, HookError> {
    let before = processes(layout).await?;
    // The response to this command is empty up to HAProxy 2.6, and the master's log since. So the list of
    // processes tells whether it was successful, in every version, and where the connection ends early.
    let _no_response = ask(&layout.master_socket, "reload").await;
    let deadline = Instant::now() + RELOAD_WITHIN;
    loop {
        let now = processes(layout).await;
        match now {
            Ok(now) if now.reloads != before.reloads => {
                return Ok(now.worker.is_some() && now.worker != before.worker);
            }
            // The master executes itself again, and responds soon.
            _ if Instant::now() < deadline => sleep(POLL).await,
            now => return now.map(|_| false),
        }
    }
}

fn read_processes(response: &str) -> Processes {
    let mut processes = Processes::default();
    let mut are_old = false;
    for line in response.lines() {
        if line.starts_with('#') {
            are_old = line.contains("old workers");
            continue;
        }
        let words: Vec<_> = line.split_whitespace().collect();
        let (pid, reloads) = (words.first(), words.get(2));
        let Some(pid) = pid.and_then(|pid| pid.parse().ok()) else {
            continue;
        };
        match words.get(1).copied() {
            Some("master") => {
                processes.reloads = reloads.and_then(|it| it.parse().ok()).unwrap_or_default();
            }
            Some("worker") if are_old => processes.old_workers.push(pid),
            Some("worker") => processes.worker = Some(pid),
            _ => {}
        }
    }
    processes
}
