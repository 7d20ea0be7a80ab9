//! A HAProxy of its own for each test, with a driver in this process.

use haproxy_driver::HaproxyDriver;
use haproxy_driver::haproxy::{Layout, master, runtime};
use haproxy_driver::plan::{Admin, RunningBalancer};
use lbcf_driver_sdk::server::Server;
use lbcf_e2e::until;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use tokio::task::JoinSet;

pub(crate) struct Haproxy {
    pub(crate) layout: Layout,
    _dir: tempfile::TempDir,
}

/// The tasks of a driver; dropping them is its crash.
pub(crate) struct RunningDriver {
    pub(crate) addr: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Haproxy {
    /// None, with a message, where HAProxy is not installed.
    pub(crate) fn installed() -> Option<Self> {
        if Command::new("haproxy").arg("-v").output().is_err() {
            // Not by a macro: the harness discards what macros print in a test that passes.
            let why = b"SKIPPED: haproxy is not installed: apt-get install haproxy\n";
            let _ = std::io::stderr().write_all(why);
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path(), Path::new("haproxy"));
        Some(Self { layout, _dir: dir })
    }

    /// A driver that starts HAProxy, or adopts the one that runs.
    pub(crate) async fn start_driver(&self) -> RunningDriver {
        // The tasks of one that was dropped end soon; until then the folder is locked.
        let driver = until("the folder is free", async || {
            HaproxyDriver::new(self.layout.clone()).ok()
        })
        .await;
        let server = Server::new(driver.clone()).listen(([127, 0, 0, 1], 0).into());
        let server = server.bind().await.unwrap();
        let addr = server.addr();
        let mut tasks = JoinSet::new();
        tasks.spawn(driver.keep_up(true));
        tasks.spawn(async move {
            server.run_until(std::future::pending()).await;
        });
        self.until_running().await;
        RunningDriver {
            addr,
            _tasks: tasks,
        }
    }

    pub(crate) async fn until_running(&self) {
        until("HAProxy runs", async || {
            let processes = master::processes(&self.layout).await.ok()?;
            runtime::balancers(&self.layout).await.ok()?;
            processes.worker
        })
        .await;
    }

    pub(crate) async fn running(&self, name: &str) -> Option<RunningBalancer> {
        let running = runtime::balancer(&self.layout, name).await;
        running.ok()?
    }

    /// Waits until exactly so many servers take sessions and none drains.
    pub(crate) async fn until_servers(&self, name: &str, count: usize) {
        until(&format!("HAProxy has {count} servers"), async || {
            let running = self.running(name).await?;
            let mut servers = running.servers.values();
            (running.servers.len() == count && servers.all(|it| it.admin == Admin::Ready))
                .then_some(())
        })
        .await;
    }

    pub(crate) fn master_pid(&self) -> String {
        std::fs::read_to_string(&self.layout.pid_file)
            .unwrap()
            .trim()
            .to_owned()
    }

    /// The workers end with their master.
    pub(crate) fn kill(&self) {
        let killed = Command::new("kill")
            .arg("-9")
            .arg(self.master_pid())
            .status()
            .unwrap();
        assert!(killed.success());
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        if let Ok(pid) = std::fs::read_to_string(&self.layout.pid_file) {
            let _ = Command::new("kill").arg("-9").arg(pid.trim()).status();
        }
    }
}

/// A port that nobody listens on; HAProxy cannot tell which one it was given.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
