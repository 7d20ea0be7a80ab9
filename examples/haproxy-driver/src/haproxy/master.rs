//! The master process: it lives as long as HAProxy, starts a new worker at each reload, and knows the
//! workers of earlier reloads, which end when their last session does.

use super::socket::ask;
use super::{HaproxyError, Layout};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a reload may take: HAProxy reads all files and starts a worker.
const RELOAD_WITHIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(5);

/// The processes of HAProxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processes {
    /// How often HAProxy was reloaded, with those that failed.
    pub reloads: u64,
    /// The worker that takes sessions.
    pub worker: Option<u32>,
    /// Workers of earlier reloads that still have sessions.
    pub old_workers: Vec<u32>,
}

/// Lists the processes.
///
/// # Errors
/// [`HaproxyError::Unreachable`].
pub async fn processes(layout: &Layout) -> Result<Processes, HaproxyError> {
    let response = ask("master", &layout.master_socket(), "show proc").await?;
    Ok(read_processes(&response))
}

/// Sends a command to one worker, also to an old one, which has no socket of its own any more.
pub(super) async fn ask_worker(
    layout: &Layout,
    worker: u32,
    command: &str,
) -> Result<String, HaproxyError> {
    let command = format!("@!{worker} {command}");
    ask("master", &layout.master_socket(), &command).await
}

/// Loads the files, and returns when the new worker takes sessions.
///
/// # Errors
/// [`HaproxyError::NotLoaded`], when the previous worker goes on; [`HaproxyError::Unreachable`].
pub async fn reload(layout: &Layout) -> Result<(), HaproxyError> {
    let before = processes(layout).await?;
    // The response to this command is empty up to HAProxy 2.6, and the master's log since. So the
    // list of processes tells whether it was successful, in every version.
    // And where the connection ends too early to tell that it arrived.
    let _no_response = ask("master", &layout.master_socket(), "reload").await;
    let deadline = Instant::now() + RELOAD_WITHIN;
    loop {
        match processes(layout).await {
            Ok(now) if now.reloads != before.reloads => {
                let is_new = now.worker.is_some() && now.worker != before.worker;
                return if is_new {
                    Ok(())
                } else {
                    Err(HaproxyError::NotLoaded)
                };
            }
            // The master executes itself again, and responds soon.
            Ok(_) | Err(_) if Instant::now() < deadline => sleep(POLL).await,
            Ok(_) => return Err(HaproxyError::NotLoaded),
            Err(error) => return Err(error),
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
        let mut words = line.split_whitespace();
        let (pid, kind, reloads) = (words.next(), words.next(), words.next());
        let Some(pid) = pid.and_then(|pid| pid.parse().ok()) else {
            continue;
        };
        match kind {
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

#[cfg(test)]
mod tests;
