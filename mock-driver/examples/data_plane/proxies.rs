//! The proxies, as processes.

use crate::Mode;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::{
    Cloud, Creation, ListenerProtocol, LoadBalancerType, NewLoadBalancer, Rule, Target, Traffic,
    TrafficOptions,
};
use std::os::fd::AsFd as _;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{sleep, timeout};

/// How long a process may take for anything.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Open files besides those of the measured connections.
const OTHER_FILES: u64 = 200;

/// What the clients have measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) rate: f64,
    pub(crate) p50: u64,
    pub(crate) p99: u64,
    /// The processor time of the proxy for each request, in microseconds. Unlike the rate it depends
    /// little on what else the machine does.
    pub(crate) cpu: f64,
}

/// How many ticks of the processor clock a second has on Linux.
const TICKS: f64 = 100.0;

pub(crate) struct Backends {
    pub(crate) addrs: Vec<String>,
    _process: Child,
}

pub(crate) struct Proxy {
    addr: String,
    process: Child,
}

fn this(arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let program = std::env::current_exe().unwrap();
    // The soft limit of open files becomes the hard one.
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -n "$(ulimit -Hn)"; exec "$0" "$@""#]);
    command.arg(program).args(arguments).kill_on_drop(true);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

async fn line(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    let line = timeout(TIMEOUT, lines.next_line()).await;
    line.expect("in time").unwrap().expect("a line")
}

pub(crate) async fn start_backends() -> Backends {
    let (process, mut lines) = this(&["backends"]);
    let addrs = vec![line(&mut lines).await, line(&mut lines).await];
    Backends {
        addrs,
        _process: process,
    }
}

/// How many of these connections the limit of open files allows, two files for each.
pub(crate) async fn possible(idle: u64) -> u64 {
    let limit = Command::new("sh")
        .args(["-c", "ulimit -Hn"])
        .output()
        .await
        .unwrap();
    let limit = String::from_utf8_lossy(&limit.stdout).trim().parse();
    let limit: u64 = limit.unwrap_or(u64::MAX);
    idle.min(limit.saturating_sub(OTHER_FILES) / 2)
}

impl Proxy {
    /// Starts `mock` or `haproxy`; none if that is not installed.
    pub(crate) async fn start(kind: &str, mode: Mode, backends: &[String]) -> Option<Self> {
        if kind == "haproxy" {
            return Self::haproxy(mode, backends).await;
        }
        let backends = backends.iter().map(String::as_str);
        let arguments: Vec<_> = ["proxy", mode.as_str()]
            .into_iter()
            .chain(backends)
            .collect();
        let (process, mut lines) = this(&arguments);
        let addr = line(&mut lines).await;
        Some(Self { addr, process })
    }

    async fn haproxy(mode: Mode, backends: &[String]) -> Option<Self> {
        // HAProxy gets the bound socket, and not a port that something else may take.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = socket.local_addr().unwrap().to_string();
        let threads = std::thread::available_parallelism().unwrap();
        let http = match mode {
            Mode::Http => "http-reuse always\n option forwardfor\n",
            Mode::Tcp => "",
        };
        let config = format!(
            "global\n nbthread {threads}\n\
             defaults\n mode {mode}\n timeout connect 1s\n timeout client 15m\n timeout server 15m\n\
             listen lb\n bind fd@3 backlog 16384\n balance roundrobin\n {http}\
             server a {a} weight 100\n server b {b} weight 100\n",
            mode = mode.as_str(),
            a = backends[0],
            b = backends[1],
        );
        let path = std::env::temp_dir().join(format!("data-plane-{}.cfg", std::process::id()));
        std::fs::write(&path, config).unwrap();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            r#"ulimit -n "$(ulimit -Hn)"; exec haproxy -db -q -f "$0" 3<&0"#,
        ]);
        command
            .arg(&path)
            .kill_on_drop(true)
            .stdin(socket.as_fd().try_clone_to_owned().unwrap())
            .stderr(Stdio::inherit());
        let mut process = command.spawn().unwrap();
        for _ in 0..500 {
            if TcpStream::connect(&addr).await.is_ok() {
                return Some(Self { addr, process });
            }
            if process.try_wait().unwrap().is_some() {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
        println!("haproxy is not installed, or does not start: only the mock is measured");
        None
    }

    pub(crate) async fn measure(&self, connections: u64, duration: Duration) -> Load {
        let (connections, seconds) = (connections.to_string(), duration.as_secs().to_string());
        let before = self.cpu_ticks();
        let (_clients, mut lines) = this(&["load", &self.addr, &connections, &seconds]);
        let line = line(&mut lines).await;
        let numbers: Vec<f64> = line.split(' ').map(|it| it.parse().unwrap()).collect();
        Load {
            rate: numbers[0],
            p50: numbers[1] as u64,
            p99: numbers[2] as u64,
            cpu: (self.cpu_ticks() - before) / TICKS * 1e6 / numbers[3],
        }
    }

    /// The memory that each of so many connections takes, in kB, after one request.
    pub(crate) async fn memory_of_idle(&self, connections: u64) -> f64 {
        let before = self.resident();
        let (mut clients, mut lines) = this(&["idle", &self.addr, &connections.to_string()]);
        assert_eq!(line(&mut lines).await, "held");
        let held = self.resident();
        clients.stdin.take().unwrap().shutdown().await.unwrap();
        clients.wait().await.unwrap();
        (held - before) / connections as f64
    }

    /// The time in user mode and in the kernel.
    fn cpu_ticks(&self) -> f64 {
        let path = format!("/proc/{}/stat", self.process.id().unwrap());
        let stat = std::fs::read_to_string(path).expect("a /proc as on Linux");
        // After the name in parentheses, which may contain spaces.
        let (_, rest) = stat.rsplit_once(") ").unwrap();
        let times = rest.split(' ').skip(11).take(2);
        times.map(|it| it.parse::<f64>().unwrap()).sum()
    }

    /// In kB.
    fn resident(&self) -> f64 {
        let path = format!("/proc/{}/status", self.process.id().unwrap());
        let status = std::fs::read_to_string(path).expect("a /proc as on Linux");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.unwrap().split_whitespace().nth(1);
        number.unwrap().parse().unwrap()
    }
}

/// Serves as the mock's data plane, and prints where.
pub(crate) async fn serve_mock(mode: &str, backends: &[&str]) {
    let cloud = Cloud::empty();
    let _traffic = Traffic::start(&cloud, TrafficOptions::default());
    let protocol = match mode {
        "http" => ListenerProtocol::Http,
        _ => ListenerProtocol::Tcp,
    };
    let desired = NewLoadBalancer {
        vpc: "vpc-1".into(),
        kind: LoadBalancerType::Open,
        protocol,
        port: 80,
        rule: protocol.has_rules().then(|| Rule::new(None, None)),
    };
    let created = cloud.create("token", desired, StringMap::new(), Duration::ZERO);
    let Ok(Creation::Done(endpoint)) = created else {
        panic!("{created:?}")
    };
    for backend in backends {
        let target = Target {
            weight: 100,
            parameters: StringMap::new(),
            record_id: None,
        };
        cloud.bind(&endpoint, backend, target).unwrap();
    }
    let traffic = cloud.traffic();
    let listener = &traffic[&endpoint.load_balancer].listeners[0];
    println!("{}", listener.listens.unwrap());
    std::future::pending::<()>().await;
}
