//! What goes on without calls: HAProxy is started when it is not there, and what somebody else has changed
//! in HAProxy or in its files is repaired.

use crate::balancer::Member;
use crate::driver::Shared;
use crate::fields::{Number, Parameters};
use crate::haproxy::{HaproxyError, Layout, config, master, runtime};
use crate::plan;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

/// How soon HAProxy is started again after it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const REPAIR_EVERY: Duration = Duration::from_secs(5);

/// Runs until the driver ends. With `start`, HAProxy is started where none runs: one that an earlier
/// driver started, or somebody else, is adopted. It is not ended with the driver.
pub(crate) async fn keep_up(shared: Shared, start: bool) {
    let mut child: Option<Child> = None;
    let mut repaired = Instant::now();
    loop {
        if start && let Err(error) = start_if_gone(&shared.layout, &mut child).await {
            tracing::error!(%error, "HAProxy cannot be started");
        }
        if repaired.elapsed() >= REPAIR_EVERY {
            if let Err(error) = repair(&shared).await {
                tracing::warn!(%error, "HAProxy is not as its files say, and cannot be repaired now");
            }
            repaired = Instant::now();
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn start_if_gone(layout: &Layout, child: &mut Option<Child>) -> io::Result<()> {
    if let Some(started) = child {
        // Not yet listening is no reason to start another one.
        if started.try_wait()?.is_none() {
            return Ok(());
        }
        *child = None;
    }
    // One that was stopped accepts the connection and does not respond: it is there, and not replaced.
    if tokio::net::UnixStream::connect(layout.master_socket())
        .await
        .is_ok()
    {
        return Ok(());
    }
    tracing::info!("starting HAProxy");
    let mut command = Command::new(&layout.program);
    command
        .arg("-W")
        .arg("-S")
        .arg(format!("{},mode,600", layout.master_socket().display()));
    command.arg("-p").arg(layout.pid_file());
    command
        .arg("-f")
        .arg(layout.base())
        .arg("-f")
        .arg(layout.conf_d());
    *child = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    Ok(())
}

/// Makes HAProxy as its files say. Returns when a reload that is needed is done.
async fn repair(shared: &Shared) -> Result<(), HaproxyError> {
    let layout = &shared.layout;
    let needs_reload = {
        let _changes = shared.changes.lock().await;
        let mut running = runtime::running(layout, None).await?;
        let mut needs_reload = false;
        for wanted in config::read_all(layout)? {
            let found = running.remove(&wanted.spec.name());
            if !config::is_as_written(layout, &wanted)? {
                config::write_balancer(layout, &wanted).await?;
            }
            match found {
                Some(found) if !plan::needs_reload(&wanted, Some(&found)) => {
                    runtime::execute(layout, &plan::repair(&wanted, &found)).await?;
                }
                _ => needs_reload = true,
            }
        }
        // What is left and is one of ours has no file any more.
        needs_reload || running.values().any(|it| !it.revision.is_empty())
    };
    if needs_reload {
        reload(shared).await
    } else {
        Ok(())
    }
}

/// Reloads HAProxy, or joins others that wait for it. The caller must not hold `changes`.
pub(crate) async fn reload(shared: &Shared) -> Result<(), HaproxyError> {
    let perform = || async {
        // A server that is added between the reading of its file and the end of the old worker would be
        // in neither.
        let _changes = shared.changes.lock().await;
        keep_foreign_servers(&shared.layout).await?;
        master::reload(&shared.layout).await
    };
    shared.reloads.join(perform).await
}

/// Writes servers that somebody added by hand to the files, because the new worker knows only those.
async fn keep_foreign_servers(layout: &Layout) -> Result<(), HaproxyError> {
    let running = runtime::running(layout, None).await?;
    for mut balancer in config::read_all(layout)? {
        let Some(running) = running.get(&balancer.spec.name()) else {
            continue;
        };
        let foreign = plan::foreign(&balancer, running);
        for (address, server) in &foreign {
            let parameters = Parameters {
                weight: Number::new(server.weight).unwrap_or_default(),
                ..Parameters::default()
            };
            let record_id = None;
            balancer.servers.insert(
                *address,
                Member {
                    parameters,
                    record_id,
                },
            );
        }
        if !foreign.is_empty() {
            config::write_balancer(layout, &balancer).await?;
        }
    }
    Ok(())
}
