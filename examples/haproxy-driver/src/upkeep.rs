//! The driver's work without a call: it starts HAProxy when HAProxy is gone, and repairs changes that
//! users made to HAProxy or to its files.

use crate::HaproxyDriver;
use crate::balancer::Balancer;
use crate::haproxy::{Layout, runtime};
use crate::plan::{self, RunningBalancer};
use lbcf_driver_sdk::HookError;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::time::{Instant, sleep};

/// The delay before HAProxy is started again after it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const REPAIR_EVERY: Duration = Duration::from_secs(5);

impl HaproxyDriver {
    /// Runs until the driver ends. With `start`, it starts HAProxy unless one runs with this folder, which
    /// it adopts. HAProxy goes on when the driver ends.
    pub async fn keep_up(self, start: bool) {
        let mut child = None;
        let mut repaired = Instant::now();
        loop {
            if start && let Err(error) = start_if_gone(&self.layout, &mut child).await {
                tracing::error!(%error, "HAProxy cannot be started");
            }
            if repaired.elapsed() >= REPAIR_EVERY {
                if let Err(error) = self.repair().await {
                    tracing::warn!(%error, "HAProxy is not as its files say, and cannot be repaired now");
                }
                repaired = Instant::now();
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Makes HAProxy as its files say. Returns when a reload that is needed is done.
    async fn repair(&self) -> Result<(), HookError> {
        let needs_reload = {
            let _changes = self.changes.lock().await;
            let mut running = runtime::balancers(&self.layout).await?;
            let mut needs_reload = false;
            for wanted in self.files.read_all().await?.into_values() {
                let running = running.remove(&wanted.name());
                match self.repair_one(&wanted, running.as_ref()).await {
                    Ok(is_loaded) => needs_reload |= !is_loaded,
                    // The other load balancers are repaired all the same.
                    Err(error) => tracing::warn!(%error, "a load balancer cannot be repaired now"),
                }
            }
            // Load balancers of the driver that are left here have no file any more.
            needs_reload || running.values().any(|it| !it.revision.is_empty())
        };
        if needs_reload && !self.reload().await? {
            tracing::error!("HAProxy could not load its files: see its log");
        }
        Ok(())
    }

    /// `false` if only a reload repairs it.
    async fn repair_one(
        &self,
        wanted: &Balancer,
        running: Option<&RunningBalancer>,
    ) -> Result<bool, HookError> {
        // Users may have changed the file.
        self.write(wanted).await?;
        let Some(commands) = plan::commands(wanted, running, None) else {
            return Ok(false);
        };
        runtime::execute(&self.layout, &commands).await?;
        Ok(true)
    }
}

async fn start_if_gone(layout: &Layout, child: &mut Option<Child>) -> io::Result<()> {
    // The process that was started may not listen yet.
    if let Some(started) = child
        && started.try_wait()?.is_none()
    {
        return Ok(());
    }
    // A stopped HAProxy (SIGSTOP) accepts connections without responding. It still runs, so keep it.
    if UnixStream::connect(&layout.master_socket).await.is_ok() {
        return Ok(());
    }
    tracing::info!("starting HAProxy");
    let master = format!("{},mode,600", layout.master_socket.display());
    let pid_file = layout.pid_file.display().to_string();
    let mut command = layout.command(&["-W", "-S", &master, "-p", &pid_file], &layout.conf_d);
    *child = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    Ok(())
}
