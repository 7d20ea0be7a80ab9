//! A driver as a process with flags, for which this test binary starts itself.
#![cfg(all(feature = "cli", unix))]

use crate::running::{Client, SOON};
use crate::support::actor;
use axum::http::StatusCode;
use clap::Parser;
use lbcf_driver_sdk::server::ServerArgs;
use serde_json::json;
use std::net::SocketAddr;
use std::process::{ExitCode, Stdio};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The flags of the started process; without it, `the_process` does nothing.
const FLAGS: &str = "LBCF_TEST_DRIVER_FLAGS";

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

#[test]
fn the_process() {
    let Ok(flags) = std::env::var(FLAGS) else {
        return;
    };
    let args = Args::parse_from(std::iter::once("driver").chain(flags.split_whitespace()));
    let (actor, stage) = actor();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let code = runtime.block_on(args.server.serve(actor));
    assert!(stage.log().len() < 100);
    let codes = [ExitCode::SUCCESS, ExitCode::FAILURE, ExitCode::from(2)];
    let code = codes.iter().position(|known| *known == code).unwrap();
    std::process::exit(i32::try_from(code).unwrap());
}

fn start(flags: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::the_process", "--nocapture", "--quiet"])
        .env(FLAGS, flags)
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// The address in the URL that it prints.
async fn address(child: &mut Child) -> SocketAddr {
    let stdout = child.stdout.take().unwrap();
    let mut lines = BufReader::new(stdout).lines();
    let url = async {
        loop {
            let line = lines
                .next_line()
                .await
                .unwrap()
                .expect("a line with the URL");
            if let Some(address) = line.strip_prefix("http://") {
                return address.parse().unwrap();
            }
        }
    };
    timeout(SOON, url).await.unwrap()
}

async fn signal(child: &Child, name: &str) {
    let id = child.id().unwrap().to_string();
    let sent = Command::new("kill").args(["-s", name, &id]).status();
    assert!(sent.await.unwrap().success());
}

/// Its exit code and standard error.
async fn end(mut child: Child) -> (Option<i32>, String) {
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().unwrap();
    let ended = async {
        pipe.read_to_string(&mut stderr).await.unwrap();
        child.wait().await.unwrap()
    };
    let status = timeout(SOON, ended).await.unwrap();
    (status.code(), stderr)
}

#[tokio::test]
async fn it_serves_until_a_signal() {
    for name in ["INT", "TERM"] {
        let mut child = start("--listen 127.0.0.1:0 --log-format json --log info");
        let addr = address(&mut child).await;
        let mut client = Client::connect(addr, None).await.unwrap();
        let (status, answer) = client.ensure(json!({})).await.unwrap();
        assert_eq!(
            (status, &answer["status"]),
            (StatusCode::OK, &json!("Succ"))
        );
        signal(&child, name).await;
        let (code, log) = end(child).await;
        assert_eq!(code, Some(0), "{log}");
        for line in log.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect(line);
        }
        assert!(log.contains("shutting down on a signal"), "{log}");
    }
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let mut child = start("--listen 127.0.0.1:0 --shutdown-within 1h --answer-within 0 --log info");
    let addr = address(&mut child).await;
    let mut client = Client::connect(addr, None).await.unwrap();
    let (_, answer) = client.ensure(json!({"do": "wait"})).await.unwrap();
    assert_eq!(answer["status"], "Running");
    signal(&child, "TERM").await;
    client.closed().await;
    assert_eq!(child.try_wait().unwrap(), None);
    signal(&child, "TERM").await;
    let (code, log) = end(child).await;
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("a second signal"), "{log}");
}

#[tokio::test]
async fn errors_are_written_to_standard_error() {
    for (flags, complaint) in [
        (
            "--token-file /nowhere/token",
            "error: cannot read /nowhere/token: ",
        ),
        (
            "--log my_driver=loud",
            "error: log filter \"my_driver=loud\": ",
        ),
        ("--path-prefix lbcf", "it must begin with /, such as /lbcf"),
        ("--tls-key k", "--tls-cert <FILE>"),
    ] {
        let (code, stderr) = end(start(flags)).await;
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(complaint), "{stderr}");
    }
}
