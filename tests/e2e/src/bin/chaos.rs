//! Runs random histories: `cargo run --release -p lbcf-e2e --bin chaos -- --seeds 5000`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use clap::Parser;
use futures::StreamExt;
use lbcf_e2e::chaos::{History, run, shrink};
use lbcf_e2e::is_remote;
use std::process::ExitCode;
use tokio::task::LocalSet;

/// Runs random histories of user actions and faults against controller, mock and cluster in this process; with
/// LBCF_E2E_KUBECONFIG histories of user actions against that cluster, one after another.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The number of histories.
    #[arg(long, env = "CHAOS_SEEDS", default_value_t = 200)]
    seeds: u64,
    /// The seed of the first history.
    #[arg(long, env = "CHAOS_FIRST", default_value_t = 0)]
    first: u64,
    /// How many run at a time.
    #[arg(long, env = "CHAOS_JOBS", default_value_t = 8)]
    jobs: usize,
    /// Prints findings as they are, without searching for the shortest history.
    #[arg(long, env = "CHAOS_NO_SHRINK")]
    no_shrink: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    // The histories share this thread; controllers and drivers run on the runtime's threads.
    LocalSet::new().run_until(run_all(Arguments::parse())).await
}

fn history(seed: u64) -> History {
    let history = History::of(seed);
    if is_remote() {
        return history.without_faults();
    }
    history
}

async fn run_all(arguments: Arguments) -> ExitCode {
    let seeds = arguments.first..arguments.first.saturating_add(arguments.seeds);
    let mut results = futures::stream::iter(seeds)
        .map(|seed| tokio::task::spawn_local(async move { (seed, run(&history(seed)).await) }))
        .buffer_unordered(arguments.jobs.max(1));
    let (mut done, mut failed) = (0_u64, Vec::new());
    while let Some(result) = results.next().await {
        done += 1;
        match result {
            Ok((_, Ok(()))) => {}
            Ok((seed, Err(finding))) => {
                println!("seed {seed}:\n{finding}");
                failed.push((seed, finding));
            }
            Err(error) => eprintln!("a history panicked: {error}"),
        }
        if done.is_multiple_of(50) {
            eprintln!(
                "{done} of {} histories, {} findings",
                arguments.seeds,
                failed.len()
            );
        }
    }
    println!("{done} histories, {} findings", failed.len());
    if !arguments.no_shrink {
        for (seed, finding) in &failed {
            let (history, finding) = shrink(&history(*seed), finding.clone()).await;
            println!("\n{history}\n{finding}");
        }
    }
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
