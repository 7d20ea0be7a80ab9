//! A thousand strangers at each listener of ours, and a thousand hostile drivers at the client: what a process may
//! take is its budget for bodies and 64 MiB above what it has when idle, while others are served. The kernel counts
//! the peak (VmHWM). Nothing of ours decompresses, so there is no bomb among the shapes.

mod client;
mod listeners;

use crate::process::DEADLINE;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

const STRANGERS: usize = 1000;
const MIB: usize = 1 << 20;
/// What a process may take besides its budget.
const MARGIN: usize = 64 * MIB;
/// Tells the tests of this binary that it runs as a child, and what for.
const CHILD: &str = "STRANGERS_CHILD";

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A server in a process of its own.
struct Server {
    name: &'static str,
    pid: u32,
    addr: SocketAddr,
    tls: Option<TlsConnector>,
    /// The path that strangers send bodies to, and the largest of these.
    path: &'static str,
    body: usize,
    /// The part of a body around an object that is decoded.
    around: &'static str,
    /// A request that is answered with 200.
    healthy: String,
    budget: usize,
}

/// A number of the process's own accounting, in bytes.
fn accounted(pid: u32, field: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.unwrap().trim_matches(|c: char| !c.is_ascii_digit());
    number.parse::<usize>().unwrap() << 10
}

/// Not `println!`: the test harness discards what a passing test prints.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "strangers: {text}");
}

/// Begins counting the peak again; gives what the process has now.
fn idle(pid: u32) -> usize {
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").unwrap();
    accounted(pid, "VmRSS:")
}

/// Prints the peak, and requires that it stays below the limit.
fn assert_peak(name: &str, pid: u32, idle: usize, budget: usize) {
    let above = accounted(pid, "VmHWM:").saturating_sub(idle);
    let limit = budget + MARGIN;
    let (idle, above, limit) = (idle / MIB, above / MIB, limit / MIB);
    tell(&format!(
        "{name}: {above} MiB above {idle} MiB when idle, at most {limit} MiB"
    ));
    assert!(above <= limit, "{name}");
}

/// JSON of about this size that takes much more memory when it is decoded.
fn many_keys(size: usize) -> String {
    let mut keys = String::from("{\"a\":\"\"");
    for number in 0.. {
        if keys.len() > size - 16 {
            break;
        }
        let _ = write!(keys, ",\"{number}\":\"0\"");
    }
    keys + "}"
}

/// What strangers send: heads, bodies and requests without an end, and whole ones that are costly.
fn shapes(server: &Server) -> Vec<String> {
    let (path, body) = (server.path, server.body);
    let post =
        format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n");
    let sized = |size: usize| format!("{post}content-length: {size}\r\n\r\n");
    let half_head = format!("{post}x: {}", "x".repeat(30 << 10));
    let small = sized(64 << 10) + &" ".repeat((64 << 10) - 1);
    let large = sized(body) + &" ".repeat(body - 1);
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(64 << 10));
    let chunked = format!("{post}transfer-encoding: chunked\r\n\r\n") + &chunk.repeat(body >> 16);
    let deep = sized(MIB) + &"[".repeat(MIB);
    let keys = server
        .around
        .replace("{}", &many_keys(body - server.around.len()));
    let keys = sized(keys.len()) + &keys;
    let held = [String::new(), half_head, small, server.healthy.clone()];
    // The whole ones take seconds of processor time each, in a build for tests.
    let mut shapes: Vec<String> = held.iter().cycle().take(36).cloned().collect();
    shapes.extend([large, chunked, deep, keys]);
    shapes
}

impl Server {
    /// From a loopback address of its own, as strangers have others.
    async fn connect(&self, from: [u8; 4]) -> std::io::Result<Box<dyn Stream>> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((from, 0).into())?;
        let stream = socket.connect(self.addr).await?;
        Ok(match &self.tls {
            None => Box::new(stream),
            Some(tls) => {
                let name = "127.0.0.1".try_into().unwrap();
                Box::new(tls.connect(name, stream).await?)
            }
        })
    }

    async fn serves(&self) {
        let exchange = async {
            let mut stream = self.connect([127, 0, 0, 2]).await.unwrap();
            stream.write_all(self.healthy.as_bytes()).await.unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).await.unwrap();
            String::from_utf8_lossy(&head).into_owned()
        };
        let head = timeout(DEADLINE, exchange).await.unwrap();
        assert_eq!(head, "HTTP/1.1 200", "{}", self.name);
    }

    /// Strangers do their worst, and others are served.
    async fn endures(self) {
        self.serves().await;
        let (idle, pid) = (idle(self.pid), self.pid);
        let shapes = Arc::new(shapes(&self));
        let (name, budget, server) = (self.name, self.budget, Arc::new(self));
        let mut sending = JoinSet::new();
        for number in 0..STRANGERS {
            let (server, shapes) = (Arc::clone(&server), Arc::clone(&shapes));
            sending.spawn(async move {
                let Ok(mut stream) = server.connect([127, 0, 0, 1]).await else {
                    return None;
                };
                let shape = &shapes[number % shapes.len()];
                stream.write_all(shape.as_bytes()).await.ok()?;
                stream.flush().await.ok()?;
                Some(stream)
            });
        }
        let mut held = Vec::new();
        let all = async {
            while let Some(sent) = sending.join_next().await {
                held.push(sent.unwrap());
                if held.len() % 50 == 0 {
                    server.serves().await;
                }
            }
        };
        timeout(DEADLINE, all).await.unwrap();
        server.serves().await;
        assert_peak(name, pid, idle, budget);
    }
}

fn address(line: &str) -> SocketAddr {
    let (_, port) = line.rsplit_once("127.0.0.1:").unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    ([127, 0, 0, 1], port.parse().unwrap()).into()
}

/// This binary again, for one of its tests.
fn child(test: &str, value: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", test]);
    command.env(CHILD, value);
    // The allocator gives large blocks back at once, so that the peak is what is in use.
    command.env("MALLOC_MMAP_THRESHOLD_", "131072");
    command
}

fn is_skipped() -> bool {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let files = files.unwrap().split_whitespace().nth(3).unwrap();
    let has_files = files.parse().unwrap_or(usize::MAX) > 3 * STRANGERS;
    let is_exhaustive = std::env::var_os("LBCF_EXHAUSTIVE").is_some();
    if !is_exhaustive {
        println!("skipped: it takes a minute; set LBCF_EXHAUSTIVE=1 to run it");
    } else if !has_files {
        tell(&format!(
            "SKIPPED: a process may have only {files} files open"
        ));
    }
    !is_exhaustive || !has_files
}
