//! Prints the names of all objects of a cluster: `LBCF_E2E_KUBECONFIG=… cargo run -p lbcf-e2e --bin inventory`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use lbcf_e2e::{KUBECONFIG, inventory};
use std::path::Path;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(path) = std::env::var_os(KUBECONFIG) else {
        eprintln!("set {KUBECONFIG} to the kubeconfig of a cluster");
        return ExitCode::FAILURE;
    };
    for name in inventory(Path::new(&path)).await {
        println!("{name}");
    }
    ExitCode::SUCCESS
}
