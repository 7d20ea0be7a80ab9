//! Starts the driver; `cargo run -- --help` lists the flags.

use clap::Parser;
use lbcf_driver_sdk::server::ServerArgs;
use std::io::Write;
use std::process::ExitCode;

use __CRATE__::observer;
use __CRATE__::{Cloud, CloudArgs, MyDriver};

/// The fixture for `lbcf conformance`, served at `/.well-known/lbcf/conformance`.
const FIXTURE: &str = include_str!("../conformance.yaml");

/// An LBCF driver for this load balancer.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    cloud: CloudArgs,

    /// Show what is in the cloud at /_observe, and allow to change it there, for `lbcf conformance`
    #[arg(long, env = "OBSERVE")]
    observe: bool,

    #[command(flatten)]
    server: ServerArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = Args::parse();
    match Cloud::connect(&args.cloud).await {
        Ok(cloud) => {
            let settings = &mut args.server.settings;
            let mut fixture = FIXTURE;
            if args.observe {
                settings.routes = observer::routes(cloud.clone());
            } else {
                // The sections from `observe` on come last, and need --observe.
                fixture = FIXTURE.split("\nobserve:").next().unwrap_or(FIXTURE);
            }
            settings.conformance_fixture = Some(fixture.to_owned());
            args.server.serve(MyDriver::new(cloud)).await
        }
        Err(error) => {
            // If stderr is closed, the message is lost.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}
