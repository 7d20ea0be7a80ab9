//! `lbcf-mock-driver`: the mock cloud with its driver and nothing else, for a small image. The same flags as
//! `lbcf mock-driver`, without defects and a cluster to compare with.

use clap::Parser;
use lbcf_serving::logging::{self, LogFormat};
use lbcf_serving::{flags, traces};
use mock_driver::cli::{MockDriverArgs, run};
use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use tracing_subscriber::fmt::format::DefaultFields;

/// The mock cloud for LBCF with its driver
#[derive(Debug, Parser)]
#[command(name = "lbcf-mock-driver", version, mut_args = flags::variables("LBCF_"))]
struct LbcfMockDriver {
    #[command(flatten)]
    driver: MockDriverArgs,

    /// Filter of the log, to stderr: a level, or a list such as warn,mock_driver=debug
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log_level: String,

    /// Form of the log
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

/// That of musl takes half as much processor time again.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match start(LbcfMockDriver::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed, the message is lost.
            let _ = writeln!(std::io::stderr(), "lbcf-mock-driver: {error}");
            ExitCode::from(2)
        }
    }
}

fn start(args: LbcfMockDriver) -> Result<(), Box<dyn Error>> {
    logging::start(
        "--log-level",
        &args.log_level,
        args.log_format,
        DefaultFields::new(),
    )?;
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(run(args.driver, ()));
    traces::flush();
    Ok(ended?)
}
