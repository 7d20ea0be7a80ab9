//! Compares the mock's data plane with HAProxy: requests per second and latency with the same two
//! backends, and memory of idle connections.
//!
//! `cargo run --release -p mock-driver --example data_plane -- [SECONDS] [CONNECTIONS] [IDLE]`
//!
//! Needs `haproxy` (Debian: `apt-get install haproxy`); without it only the mock is measured. Backends,
//! proxies and clients are processes of their own on loopback. 10,000 idle connections need 20,200
//! open files in the proxy: with fewer (`ulimit -n`), fewer connections are measured.

// A measurement that fails ends the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod backend;
mod load;
mod proxies;

use proxies::Proxy;
use std::time::Duration;

/// How often each proxy is measured, in turn, so that a busy moment of the machine hits both.
const ROUNDS: usize = 3;

/// What is proxied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Http,
    Tcp,
}

impl Mode {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Tcp => "tcp",
        }
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["backends"] => backend::serve().await,
        ["proxy", mode, ref backends @ ..] => proxies::serve_mock(mode, backends).await,
        ["load", addr, connections, seconds] => load::run(addr, connections, seconds).await,
        ["idle", addr, connections] => load::hold(addr, connections).await,
        _ => {
            let number = |at: usize, default: u64, most: u64| {
                let given = arguments
                    .get(at)
                    .map(|text| text.parse().expect("a number"));
                given.unwrap_or(default).clamp(1, most)
            };
            let (seconds, connections) = (number(0, 5, 60), number(1, 64, 1024));
            compare(
                Duration::from_secs(seconds),
                connections,
                number(2, 10_000, 10_000),
            )
            .await;
        }
    }
}

async fn compare(duration: Duration, connections: u64, idle: u64) {
    let backends = proxies::start_backends().await;
    let idle = proxies::possible(idle).await;
    println!(
        "| proxy | mode | requests/s | p50 | p99 | µs of CPU for each request | kB for each of {idle} idle connections |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (mode, goal) in [(Mode::Http, 0.5), (Mode::Tcp, 0.7)] {
        let mut results = [Vec::new(), Vec::new()];
        let mut memory = [None, None];
        for round in 0..ROUNDS {
            for (at, kind) in ["mock", "haproxy"].into_iter().enumerate() {
                let Some(proxy) = Proxy::start(kind, mode, &backends.addrs).await else {
                    continue;
                };
                results[at].push(proxy.measure(connections, duration).await);
                drop(proxy);
                if round == 0 {
                    let proxy = Proxy::start(kind, mode, &backends.addrs).await.unwrap();
                    memory[at] = Some(proxy.memory_of_idle(idle).await);
                }
            }
        }
        let medians = results.map(|mut rounds| {
            rounds.sort_by(|a, b| a.rate.total_cmp(&b.rate));
            rounds.get(rounds.len() / 2).copied()
        });
        for (at, kind) in ["mock", "haproxy"].into_iter().enumerate() {
            if let (Some(load), Some(memory)) = (medians[at], memory[at]) {
                println!(
                    "| {kind} | {} | {:.0} | {} µs | {} µs | {:.1} | {memory:.1} |",
                    mode.as_str(),
                    load.rate,
                    load.p50,
                    load.p99,
                    load.cpu
                );
            }
        }
        if let [Some(mock), Some(haproxy)] = medians {
            let ratio = mock.rate / haproxy.rate;
            let by_cpu = haproxy.cpu / mock.cpu;
            let mode = mode.as_str();
            println!(
                "\n{mode}: {ratio:.2} of HAProxy's requests/s (goal: {goal}), {by_cpu:.2} by CPU\n"
            );
        }
    }
}
