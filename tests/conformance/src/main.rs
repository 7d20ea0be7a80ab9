//! `lbcf-conformance`: the kit as a command of its own, for who has no use for the rest of `lbcf`.

use clap::Parser;
use lbcf_conformance::command::{self, ConformanceArgs};
use std::io::Write;
use std::process::ExitCode;

/// Judges any LBCF driver, in any language, by its URL
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
            // Whoever ends a run at once does not wait for a name to be found.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            // Nobody is left to tell if stderr is closed.
            let _ = writeln!(std::io::stderr(), "lbcf-conformance: {error}");
            ExitCode::from(2)
        }
    }
}
