//! HAProxy in place of a real load balancer, with `--forward`: a process for each load balancer, whose
//! configuration is written and read again when its backends change.
//!
//! FILL-IN: remove this file and `--forward`. Connections are your load balancer's work.

use std::fmt::Write;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::sleep;

/// Listens at this port, and forwards each connection to the next of the backends that are sent, until the
/// sender is dropped.
///
/// # Errors
/// Those of starting `haproxy`, which has to be on the PATH.
pub fn start(port: u16) -> io::Result<watch::Sender<Vec<SocketAddr>>> {
    until_it_is_free(port)?;
    let file = std::env::temp_dir().join(format!("haproxy-{}-{port}.cfg", std::process::id()));
    std::fs::write(&file, configuration(port, &[]))?;
    // The master process stays, and replaces its worker for each new configuration.
    let haproxy = Command::new("haproxy")
        .args(["-W", "-q", "-S"])
        .arg(master(&file))
        .arg("-f")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("haproxy: {error}")))?;
    let (sender, mut backends) = watch::channel(Vec::new());
    tokio::spawn(async move {
        let mut haproxy = haproxy;
        let mut reloads = until_it_reads(&mut haproxy, &file, 0).await;
        while backends.changed().await.is_ok() {
            let text = configuration(port, &backends.borrow_and_update());
            let result = match std::fs::write(&file, text) {
                Ok(()) => signal(&haproxy, "-USR2").await,
                Err(error) => Err(error),
            };
            match result {
                Ok(()) => reloads = until_it_reads(&mut haproxy, &file, reloads + 1).await,
                Err(error) => eprintln!("{}: {error}", file.display()),
            }
        }
        // A killed master would leave its worker.
        let _ = signal(&haproxy, "-TERM").await;
        let _ = std::fs::remove_file(&file);
        let _ = std::fs::remove_file(master(&file));
    });
    Ok(sender)
}

/// One TCP listener. The values are numbers and addresses, so that no text of a user gets into it.
fn configuration(port: u16, backends: &[SocketAddr]) -> String {
    let mut text = format!(
        "\
global
  hard-stop-after 10s
defaults
  mode tcp
  timeout connect 5s
  timeout client 1m
  timeout server 1m
listen load-balancer
  bind 127.0.0.1:{port}
"
    );
    for (number, at) in backends.iter().enumerate() {
        let _ = writeln!(text, "  server backend-{number} {at}");
    }
    text
}

/// The socket of the master process.
fn master(file: &Path) -> PathBuf {
    file.with_extension("sock")
}

/// That of a driver which has just ended may still have it; its own message would not reach the user.
fn until_it_is_free(port: u16) -> io::Result<()> {
    let mut tries = 0..20;
    loop {
        match TcpListener::bind(("127.0.0.1", port)) {
            Err(error) if tries.next().is_none() => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
            Ok(_) => return Ok(()),
        }
    }
}

/// Waits until HAProxy has read its configuration again for this number of times, and returns the number. A
/// signal that comes earlier would end it or be lost.
async fn until_it_reads(haproxy: &mut Child, file: &Path, reloads: u32) -> u32 {
    while matches!(haproxy.try_wait(), Ok(None)) {
        match reloads_of(file).await {
            Some(now) if now >= reloads => return now,
            _ => sleep(Duration::from_millis(20)).await,
        }
    }
    reloads
}

/// From a line such as `1234  master  2 [failed: 0]  0d00h00m01s`.
async fn reloads_of(file: &Path) -> Option<u32> {
    let mut socket = UnixStream::connect(master(file)).await.ok()?;
    socket.write_all(b"show proc\n").await.ok()?;
    // It closes the connection after the last command.
    socket.shutdown().await.ok()?;
    let mut text = String::new();
    socket.read_to_string(&mut text).await.ok()?;
    let mut words = text.split_whitespace().skip_while(|word| *word != "master");
    words.nth(1)?.parse().ok()
}

async fn signal(haproxy: &Child, signal: &str) -> io::Result<()> {
    let Some(id) = haproxy.id() else {
        return Err(io::Error::other("haproxy has ended"));
    };
    let ended = Command::new("kill")
        .args([signal, &id.to_string()])
        .status();
    ended.await.map(drop)
}
