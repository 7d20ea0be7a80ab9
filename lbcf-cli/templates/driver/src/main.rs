//! Starts the driver: `cargo run -- --help` shows what can be set.

use clap::Parser;
use lbcf_driver_sdk::server::ServerArgs;
use std::io::Write;
use std::process::ExitCode;

use __CRATE__::{Cloud, CloudArgs, MyDriver};

/// Lets LBCF, and with it Kubernetes, control this load balancer.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    cloud: CloudArgs,

    #[command(flatten)]
    server: ServerArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    match Cloud::connect(&args.cloud) {
        Ok(cloud) => args.server.serve(MyDriver::new(cloud)).await,
        Err(error) => {
            // Nobody is left to tell if stderr is closed.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}
