//! Load tests of processes: the `minimal` example with the settings of production (logs at info,
//! metrics, detached hooks, limits), a handler written by hand with axum that decodes the same body
//! and sends the same response, and optionally a running driver, such as one in Go.
//!
//! ```text
//! cargo bench -p lbcf-driver-sdk --features cli --bench load
//! cargo bench -p lbcf-driver-sdk --features cli --bench load -- --seconds 5 --rounds 7
//! LOAD_URL_GO=http://127.0.0.1:8080 cargo bench -p lbcf-driver-sdk --features cli --bench load
//! ```
//!
//! There are two loads: `ensureBackend` alone, a small request; and the registration of a pod,
//! `generateBackendAddr` with a whole pod (4.7 kB) and then `ensureBackend`. `--load` selects one.
//!
//! The servers run in processes of their own and take turns, so that other processes affect all of
//! them. The ratios are medians over the rounds. Of the SDK to the handler by hand, the throughput
//! must be at least 0.85 and the p99 latency at most 2; the throughput must be at least 1.6 of that of
//! the driver in Go. The processor time per request, which varies less, and the peak of the memory are only known on Linux.

// A benchmark prints its results.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use http_body_util::BodyExt;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Pod;
use lbcf_driver_sdk::webhook::{
    BackendPort, EnsureBackend, EnsureBackendResponse, GenerateBackendAddrResponse, StringMap,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A pod of a real cluster.
const POD: &str = include_str!("../tests/data/pod.json");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    EnsureBackend,
    Registration,
}

impl Load {
    const ALL: [Self; 2] = [Self::EnsureBackend, Self::Registration];

    const fn name(self) -> &'static str {
        match self {
            Self::EnsureBackend => "ensureBackend",
            Self::Registration => "registration",
        }
    }

    /// The path and the body of a request.
    fn request(self, number: u64) -> (&'static str, String) {
        match self {
            Self::Registration if number.is_multiple_of(2) => {
                ("/generateBackendAddr", generate_backend_addr(number))
            }
            _ => ("/ensureBackend", ensure_backend(number)),
        }
    }
}

/// The argument that makes this program the server written by hand.
const BY_HAND: &str = "serve-by-hand";

struct Settings {
    seconds: u64,
    rounds: usize,
    connections: usize,
    loads: Vec<Load>,
    /// A program to measure instead of the example; it gets `--listen ADDRESS` too.
    driver: Option<PathBuf>,
}

impl Settings {
    fn from_args() -> Outcome<Self> {
        let mut settings = Self {
            seconds: 3,
            rounds: 5,
            connections: 32,
            loads: Load::ALL.into(),
            driver: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or(format!("{flag}: no value"));
            match flag.as_str() {
                "--bench" => {} // cargo's own
                "--seconds" => settings.seconds = value()?.parse()?,
                "--rounds" => settings.rounds = value()?.parse()?,
                "--connections" => settings.connections = value()?.parse()?,
                "--load" => {
                    let name = value()?;
                    let load = Load::ALL.into_iter().find(|load| load.name() == name);
                    let load = load.ok_or(format!(
                        "--load {name}: must be ensureBackend or registration"
                    ))?;
                    settings.loads = vec![load];
                }
                "--driver" => settings.driver = Some(value()?.into()),
                _ => {
                    let known = "--seconds, --rounds, --connections, --load, --driver";
                    return Err(format!("{flag}: must be one of {known}").into());
                }
            }
        }
        if settings.seconds == 0 || settings.rounds == 0 || settings.connections == 0 {
            return Err("--seconds, --rounds and --connections must be at least 1".into());
        }
        Ok(settings)
    }
}

/// A server, whose process is killed when this is dropped unless it was started by others.
struct Server {
    name: &'static str,
    process: Option<Child>,
    address: String,
}

impl Server {
    /// Starts a program that prints its URL, `http://HOST:PORT…`, as the only line.
    fn start(name: &'static str, mut command: Command) -> Outcome<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // Logs are written, but not read.
        let process = command.stderr(Stdio::null()).spawn();
        let mut process = process.map_err(|error| format!("{command:?}: {error}"))?;
        let stdout = process.stdout.take().ok_or("no stdout")?;
        let mut server = Self {
            name,
            process: Some(process),
            address: String::new(),
        };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        server.address = address(&line)?;
        Ok(server)
    }

    /// A server that runs already.
    fn external(name: &'static str, url: &str) -> Outcome<Self> {
        Ok(Self {
            name,
            process: None,
            address: address(url)?,
        })
    }

    /// The processor time of the process, in clock ticks.
    fn ticks(&self) -> Option<u64> {
        let id = self.process.as_ref()?.id();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The second field, the program's name, ends with the last ')'.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        Some(user + system)
    }

    /// The most memory that was resident, in kB.
    fn peak_memory(&self) -> Option<u64> {
        let id = self.process.as_ref()?.id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        peak.trim_end_matches("kB").trim().parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The host and port of a URL.
fn address(url: &str) -> Outcome<String> {
    let address = url.trim().strip_prefix("http://");
    let address = address.ok_or_else(|| format!("{url:?}: must begin with http://"))?;
    Ok(address.split('/').next().unwrap_or(address).to_owned())
}

#[derive(Clone, Copy)]
struct Round {
    requests_per_second: f64,
    p50: Duration,
    p99: Duration,
    processor_micros: Option<f64>,
}

/// Sends one request at a time over each of the connections.
async fn run(server: &Server, load: Load, connections: usize, time: Duration) -> Outcome<Round> {
    static REQUEST: AtomicU64 = AtomicU64::new(0);
    let mut open = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(&server.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        open.push(sender);
    }
    let host: Arc<str> = server.address.as_str().into();
    let ticks = server.ticks();
    let start = Instant::now();
    let mut running = JoinSet::new();
    for mut sender in open {
        let host = Arc::clone(&host);
        running.spawn(async move {
            let mut latencies = Vec::with_capacity(1 << 16);
            while start.elapsed() < time {
                let (path, body) = load.request(REQUEST.fetch_add(1, Ordering::Relaxed));
                let sent = Instant::now();
                call(&mut sender, &host, path, body).await?;
                latencies.push(sent.elapsed());
            }
            Outcome::Ok(latencies)
        });
    }
    let mut latencies = Vec::new();
    while let Some(one) = running.join_next().await {
        latencies.extend(one??);
    }
    let took = start.elapsed().as_secs_f64();
    // A tick is 10 ms on Linux.
    let ticks = ticks.zip(server.ticks()).map(|(before, now)| now - before);
    let requests = u32::try_from(latencies.len())?;
    latencies.sort_unstable();
    let at = |percent| latencies.get(latencies.len() * percent / 100);
    Ok(Round {
        requests_per_second: f64::from(requests) / took,
        p50: *at(50).ok_or("no response")?,
        p99: *at(99).ok_or("no response")?,
        processor_micros: match ticks.map(u32::try_from) {
            Some(Ok(ticks)) => Some(f64::from(ticks) * 10_000.0 / f64::from(requests)),
            _ => None,
        },
    })
}

async fn call(sender: &mut SendRequest<Body>, host: &str, path: &str, body: String) -> Outcome<()> {
    sender.ready().await?;
    let request = Request::post(path)
        .header(header::HOST, host)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body))?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    // Any status of a driver: an external one may not know the load balancer.
    if status != StatusCode::OK || !body.starts_with(br#"{"status":""#) {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
    }
    Ok(())
}

/// About 500 bytes; each request is for another backend.
fn ensure_backend(record: u64) -> String {
    format!(
        r#"{{"recordID":"ensureBackend(0f6c1f9e-5a43-4c8e-9a51-{record:012x})","retryID":"6c0a8a0a-3c57-4f5c-8f8e-{record:012x}","dryRun":false,"lbInfo":{{"listenerPort":"443","loadBalancerID":"lb-7ab51c6a","protocol":"TCP"}},"backendAddr":"{{\"instanceID\":\"node-17\",\"ip\":\"10.42.3.17\",\"port\":{record}}}","parameters":{{"healthCheck":"/healthz","slowStart":"30s","weight":"80"}},"injectedInfo":{{"registeredAt":"2026-03-02T08:15:38Z","target":"tg-5b0bcabd1ed2"}}}}"#
    )
}

/// About 5 kB; each request is for another backend.
fn generate_backend_addr(record: u64) -> String {
    format!(
        r#"{{"recordID":"generateBackendAddr(0f6c1f9e-5a43-4c8e-9a51-{record:012x})","retryID":"6c0a8a0a-3c57-4f5c-8f8e-{record:012x}","dryRun":false,"lbInfo":{{"listenerPort":"443","loadBalancerID":"lb-7ab51c6a","protocol":"TCP"}},"lbAttributes":null,"parameters":{{"weight":"80"}},"podBackend":{{"pod":{POD},"port":{{"port":80,"portNumber":80,"protocol":"TCP"}}}},"serviceBackend":null}}"#
    )
}

/// `generateBackendAddr` for the handler by hand, with Kubernetes' own types: the SDK's also read a pod
/// from a string, which takes time.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "all fields are decoded")]
struct GenerateBackendAddr {
    #[serde(rename = "recordID")]
    record_id: String,
    #[serde(rename = "retryID")]
    retry_id: String,
    dry_run: bool,
    lb_info: Option<StringMap>,
    lb_attributes: Option<StringMap>,
    parameters: Option<StringMap>,
    pod_backend: PodBackend,
}

#[derive(Deserialize)]
struct PodBackend {
    pod: Pod,
    port: BackendPort,
}

/// A minimal handler: decodes the request and encodes the response.
fn respond<Q: DeserializeOwned, A: Serialize>(body: &Bytes, hook: impl FnOnce(Q) -> A) -> Response {
    let Ok(request) = serde_json::from_slice(body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match serde_json::to_vec(&hook(request)) {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn serve_by_hand() -> Outcome<()> {
    let ensure_backend = |body: Bytes| async move {
        respond(&body, |_: EnsureBackend| {
            EnsureBackendResponse::from(Ok(StringMap::new()))
        })
    };
    let generate_backend_addr = |body: Bytes| async move {
        respond(&body, |request: GenerateBackendAddr| {
            let pod = request.pod_backend;
            let ip = pod.pod.status.and_then(|status| status.pod_ip);
            let address = format!("{}:{}", ip.unwrap_or_default(), pod.port.port);
            GenerateBackendAddrResponse::from(Ok(address))
        })
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(
        listener,
        Router::new()
            .route("/ensureBackend", post(ensure_backend))
            .route("/generateBackendAddr", post(generate_backend_addr)),
    )
    .await?;
    Ok(())
}

/// Builds the example in release mode, and returns its path.
fn build_minimal() -> Outcome<PathBuf> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--features", "cli"])
        .args(["--example", "minimal", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .status()?;
    if !built.success() {
        return Err("the example `minimal` does not compile".into());
    }
    // This program is target/release/deps/load-…
    let program = std::env::current_exe()?;
    let folder = program.parent().and_then(|deps| deps.parent());
    let folder = folder.ok_or("this program has no folder")?;
    Ok(folder
        .join("examples/minimal")
        .with_extension(std::env::consts::EXE_EXTENSION))
}

async fn compare(settings: Settings) -> Outcome<()> {
    let driver = match &settings.driver {
        Some(driver) => driver.clone(),
        None => build_minimal()?,
    };
    let mut sdk = Command::new(driver);
    sdk.args(["--listen", "127.0.0.1:0"]);
    let mut hand = Command::new(std::env::current_exe()?);
    hand.arg(BY_HAND);
    let mut servers = vec![Server::start("sdk", sdk)?, Server::start("by hand", hand)?];
    if let Ok(url) = std::env::var("LOAD_URL_GO") {
        servers.push(Server::external("go", &url)?);
    }
    for load in &settings.loads {
        println!("{}:", load.name());
        compare_under(*load, &servers, &settings).await?;
    }
    Ok(())
}

async fn compare_under(load: Load, servers: &[Server], settings: &Settings) -> Outcome<()> {
    for server in servers {
        run(server, load, settings.connections, Duration::from_secs(1)).await?;
    }
    let time = Duration::from_secs(settings.seconds);
    let mut results = vec![Vec::new(); servers.len()];
    for round in 0..settings.rounds {
        // Each round starts with another server.
        for offset in 0..servers.len() {
            let at = (round + offset) % servers.len();
            let result = run(&servers[at], load, settings.connections, time).await?;
            print_round(round, &servers[at], &result);
            results[at].push(result);
        }
    }

    for (server, rounds) in servers.iter().zip(&results) {
        let of = |what: fn(&Round) -> f64| median(rounds.iter().map(what));
        println!(
            "{:>8}: {:.0} requests/s, p50 {:.0} us, p99 {:.0} us, processor time {:.1} us a request, memory {} kB",
            server.name,
            of(|round| round.requests_per_second),
            of(|round| micros(round.p50)),
            of(|round| micros(round.p99)),
            of(|round| round.processor_micros.unwrap_or(f64::NAN)),
            server.peak_memory().unwrap_or_default(),
        );
    }
    for (server, rounds) in servers.iter().zip(&results).skip(1) {
        let ratio = |what: fn(&Round) -> f64| {
            let pairs = results[0].iter().zip(rounds);
            median(pairs.map(|(sdk, other)| what(sdk) / what(other)))
        };
        println!(
            "sdk / {}: throughput {:.3}, p99 {:.2}, processor time {:.2}",
            server.name,
            ratio(|round| round.requests_per_second),
            ratio(|round| micros(round.p99)),
            ratio(|round| round.processor_micros.unwrap_or(f64::NAN)),
        );
    }
    Ok(())
}

fn print_round(round: usize, server: &Server, result: &Round) {
    eprintln!(
        "round {}, {:>8}: {:.0} requests/s, p50 {:?}, p99 {:?}",
        round + 1,
        server.name,
        result.requests_per_second,
        result.p50,
        result.p99,
    );
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[tokio::main]
async fn main() -> Outcome<()> {
    if std::env::args().nth(1).as_deref() == Some(BY_HAND) {
        return serve_by_hand().await;
    }
    compare(Settings::from_args()?).await
}
