//! `lbcf-conformance`: the kit as its own command, without the rest of `lbcf`.

use clap::Parser;
use lbcf_conformance::command::{self, ConformanceArgs};
use std::io::Write;
use std::process::ExitCode;

/// Tests an LBCF driver in any language against the specification, over its URL
#[derive(Debug, Parser)]
#[command(
    name = "lbcf-conformance",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Args {
    #[command(flatten)]
    conformance: ConformanceArgs,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match tokio::runtime::Runtime::new() {
        Ok(runtime) => {
            let code = runtime.block_on(command::run(args.conformance));
            // An interrupted run must not wait for a name to be resolved.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "lbcf-conformance: {error}");
            ExitCode::from(2)
        }
    }
}
