//! Whole processes under load: the `minimal` example with all that a driver in production has
//! switched on (logs at info, metrics, detached hooks, limits), beside a server written by hand
//! with axum that reads the same body and gives the same answer, and does nothing else.
//!
//! ```text
//! cargo bench -p lbcf-driver-sdk --features cli --bench load
//! cargo bench -p lbcf-driver-sdk --features cli --bench load -- --seconds 5 --rounds 7
//! ```
//!
//! There are two loads: `ensureBackend` alone, the smallest request that does work; and what a
//! controller sends to register a pod, `generateBackendAddr` with a whole pod (4.7 kB) and then
//! `ensureBackend`. `--load` names one of them.
//!
//! Both run in processes of their own and take turns, so that whatever else the machine does hits
//! both. The ratios are medians over the rounds: of throughput, which shall be at least 0.85, and
//! of the slowest hundredth's latency, which shall be at most 2. The processor time that a server
//! took for a request says the same more steadily, where the system tells it (Linux).

// A benchmark tells its results.
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
    BackendPort, EnsureBackendRequest, EnsureBackendResponse, GenerateBackendAddrResponse,
    StringMap,
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

/// A pod as a cluster has it.
const POD: &str = include_str!("../tests/data/pod.json");

/// What is sent.
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

    /// The request with this number.
    fn request(self, number: u64) -> (&'static str, String) {
        match self {
            Self::Registration if number.is_multiple_of(2) => {
                ("/generateBackendAddr", generate_backend_addr(number))
            }
            _ => ("/ensureBackend", ensure_backend(number)),
        }
    }
}

/// Under this name, this program is the server written by hand.
const BY_HAND: &str = "serve-by-hand";

struct Settings {
    seconds: u64,
    rounds: usize,
    connections: usize,
    loads: Vec<Load>,
    /// Another program than the example to measure; it gets `--listen ADDRESS` too.
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

/// A server as a process, which ends with this value.
struct Server {
    name: &'static str,
    process: Child,
    address: String,
}

impl Server {
    /// Starts a program that listens where it is told and says where: `http://HOST:PORT…`, as the
    /// only line.
    fn start(name: &'static str, mut command: Command) -> Outcome<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // Logs are written, and read by nobody.
        let process = command.stderr(Stdio::null()).spawn();
        let process = process.map_err(|error| format!("{command:?}: {error}"))?;
        let mut server = Self {
            name,
            process,
            address: String::new(),
        };
        let mut line = String::new();
        let stdout = server.process.stdout.take().ok_or("no stdout")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let url = line.trim().strip_prefix("http://");
        let url = url.ok_or_else(|| format!("{command:?}: {line:?} where a URL should be"))?;
        server.address = url.split('/').next().unwrap_or(url).to_owned();
        Ok(server)
    }

    /// The processor time that it took so far, in clock ticks.
    fn ticks(&self) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        // The second field, the program's name, may contain anything, but ends with the last ')'.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        Some(user + system)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What one round came to.
struct Round {
    requests_per_second: f64,
    p50: Duration,
    p99: Duration,
    processor_micros: Option<f64>,
}

/// Connections, each with one request at a time, for so long.
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
    // Linux counts 100 ticks a second, whatever its clock does.
    let ticks = ticks.zip(server.ticks()).map(|(before, now)| now - before);
    let requests = u32::try_from(latencies.len())?;
    latencies.sort_unstable();
    let at = |percent| latencies.get(latencies.len() * percent / 100);
    Ok(Round {
        requests_per_second: f64::from(requests) / took,
        p50: *at(50).ok_or("no request was answered")?,
        p99: *at(99).ok_or("no request was answered")?,
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
    if status != StatusCode::OK || !body.starts_with(br#"{"status":"Succ""#) {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
    }
    Ok(())
}

/// About 500 bytes, of a backend of its own each.
fn ensure_backend(record: u64) -> String {
    format!(
        r#"{{"recordID":"ensureBackend(0f6c1f9e-5a43-4c8e-9a51-{record:012x})","retryID":"6c0a8a0a-3c57-4f5c-8f8e-{record:012x}","dryRun":false,"lbInfo":{{"listenerPort":"443","loadBalancerID":"lb-7ab51c6a","protocol":"TCP"}},"backendAddr":"{{\"instanceID\":\"node-17\",\"ip\":\"10.42.3.17\",\"port\":{record}}}","parameters":{{"healthCheck":"/healthz","slowStart":"30s","weight":"80"}},"injectedInfo":{{"registeredAt":"2026-03-02T08:15:38Z","target":"tg-5b0bcabd1ed2"}}}}"#
    )
}

/// About 5 kB, of a pod's backend of its own each.
fn generate_backend_addr(record: u64) -> String {
    format!(
        r#"{{"recordID":"generateBackendAddr(0f6c1f9e-5a43-4c8e-9a51-{record:012x})","retryID":"6c0a8a0a-3c57-4f5c-8f8e-{record:012x}","dryRun":false,"lbInfo":{{"listenerPort":"443","loadBalancerID":"lb-7ab51c6a","protocol":"TCP"}},"lbAttributes":null,"parameters":{{"weight":"80"}},"podBackend":{{"pod":{POD},"port":{{"port":80,"portNumber":80,"protocol":"TCP"}}}},"serviceBackend":null}}"#
    )
}

/// What the handler that is written by hand reads of `generateBackendAddr`: no more than Kubernetes'
/// own types, since the SDK's would read a pod from a string too, at a price.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "all of it has to be read")]
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

/// What somebody would write who needs no more than that: the request read, and an answer.
fn answer<Q: DeserializeOwned, A: Serialize>(
    body: &Bytes,
    answer: impl FnOnce(Q) -> A,
) -> Response {
    let Ok(request) = serde_json::from_slice(body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match serde_json::to_vec(&answer(request)) {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn serve_by_hand() -> Outcome<()> {
    let ensure_backend = |body: Bytes| async move {
        answer(&body, |_: EnsureBackendRequest| {
            EnsureBackendResponse::from(Ok(StringMap::new()))
        })
    };
    let generate_backend_addr = |body: Bytes| async move {
        answer(&body, |request: GenerateBackendAddr| {
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

/// Builds the example as this program was built, and tells where it is.
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
    let folder = folder.ok_or("this program stands nowhere")?;
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
    let sdk = Server::start("sdk", sdk)?;
    let hand = Server::start("by hand", hand)?;

    for load in &settings.loads {
        println!("{}:", load.name());
        compare_under(*load, &sdk, &hand, &settings).await?;
    }
    Ok(())
}

async fn compare_under(
    load: Load,
    sdk: &Server,
    hand: &Server,
    settings: &Settings,
) -> Outcome<()> {
    for server in [sdk, hand] {
        run(server, load, settings.connections, Duration::from_secs(1)).await?;
    }
    let time = Duration::from_secs(settings.seconds);
    let mut rounds = Vec::new();
    for round in 0..settings.rounds {
        // Nobody is always first.
        let (first, second) = if round % 2 == 0 {
            (sdk, hand)
        } else {
            (hand, sdk)
        };
        let one = run(first, load, settings.connections, time).await?;
        print_round(round, first, &one);
        let other = run(second, load, settings.connections, time).await?;
        print_round(round, second, &other);
        rounds.push(if round % 2 == 0 {
            (one, other)
        } else {
            (other, one)
        });
    }

    for (server, which) in [(sdk, 0), (hand, 1)] {
        let of = |what: &dyn Fn(&Round) -> f64| {
            median(
                rounds
                    .iter()
                    .map(|(sdk, hand)| what(if which == 0 { sdk } else { hand })),
            )
        };
        println!(
            "{:>8}: {:.0} requests/s, p50 {:.0} us, p99 {:.0} us, processor time {:.1} us a request",
            server.name,
            of(&|round| round.requests_per_second),
            of(&|round| micros(round.p50)),
            of(&|round| micros(round.p99)),
            of(&|round| round.processor_micros.unwrap_or(f64::NAN)),
        );
    }
    let ratio = |what: &dyn Fn(&Round) -> f64| {
        median(rounds.iter().map(|(sdk, hand)| what(sdk) / what(hand)))
    };
    println!(
        "sdk / by hand: throughput {:.3} (at least 0.85), p99 {:.2} (at most 2), processor time {:.2}",
        ratio(&|round| round.requests_per_second),
        ratio(&|round| micros(round.p99)),
        ratio(&|round| round.processor_micros.unwrap_or(f64::NAN)),
    );
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
