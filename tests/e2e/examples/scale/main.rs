//! Measures how fast a group of many pods is registered, and how the figures grow with the group.
//!
//! * `cargo run --release -p lbcf-e2e --example scale -- 500 1000 2000` runs everything in one process.
//! * `cargo build --release -p lbcf-cli`, then
//!   `cargo run --release -p lbcf-e2e --example scale -- --processes 1000 2000 10000` runs what users run:
//!   `lbcf local-cluster`, `lbcf mock-driver` and `lbcf controller` with their default flags;
//!   `--lbcf FILE` measures another build of it, and `--before FILE` an earlier one beside it.
//!   With `--real` the cluster is Kubernetes' own API server (tests/real-cluster).
//! * With `--limits`, too, the mock's clouds limit calls, as those do that they stand for; then two drivers share an account.
//! * With `--endpoints` the pods are the endpoints of five services, each with a group.

// A measurement that fails ends the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod driver_metrics;
mod in_process;
mod limits;
mod process;
mod processes;
mod table;
mod workload;

use clap::Parser;
use std::path::PathBuf;
use std::time::Duration;
use workload::Workload;

/// The longest time that one measurement may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Measures how fast a group of many pods is registered.
#[derive(Debug, Parser)]
struct Arguments {
    /// Numbers of pods; each is a measurement of its own
    #[arg(default_values_t = [500, 1000, 2000])]
    pods: Vec<usize>,
    /// Measures the processes of a release build instead of one process for everything
    #[arg(long)]
    processes: bool,
    /// Registers the pods as the endpoints of five services
    #[arg(long)]
    endpoints: bool,
    /// Flags of the measured controller, such as "--client-qps 100"
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    controller_flags: String,
    /// Creates so many pods that nothing selects, for --processes
    #[arg(long, default_value_t = 0, requires = "processes")]
    other_pods: usize,
    /// Measures the controller of this lbcf, too, each time before the other
    #[arg(long, requires = "processes")]
    before: Option<PathBuf>,
    /// Runs Kubernetes' own API server, for --processes; its processor time is that of etcd, too
    #[arg(long, requires = "processes")]
    real: bool,
    /// Limits the calls that the clouds of the mock take, for --processes
    #[arg(long, requires = "processes")]
    limits: bool,
    /// The lbcf to measure, for --processes; by default that of the same build
    #[arg(long, requires = "processes")]
    lbcf: Option<PathBuf>,
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse();
    let workload = if arguments.endpoints {
        Workload::Endpoints
    } else {
        Workload::Pods
    };
    if arguments.limits {
        let lbcf = arguments.lbcf.unwrap_or_else(process::binary_of_this_build);
        for pods in arguments.pods {
            limits::of_processes(lbcf.clone(), pods).await;
            limits::of_two_drivers(pods).await;
        }
    } else if arguments.processes {
        let measurement = processes::Measurement {
            workload,
            lbcf: arguments.lbcf.unwrap_or_else(process::binary_of_this_build),
            controller_flags: arguments.controller_flags,
            mock_flags: String::new(),
            other_pods: arguments.other_pods,
            before: arguments.before,
            is_real: arguments.real,
        };
        measurement.of_all(&arguments.pods).await;
    } else {
        in_process::measure_all(&arguments.pods, workload).await;
    }
}
