//! Runs random histories: `cargo run --release -p lbcf-e2e --bin chaos -- --one-clock --seeds 5000`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use clap::Parser;
use futures::StreamExt;
use lbcf_e2e::chaos::{History, run, shrink};
use lbcf_e2e::{OneClock, is_remote};
use std::process::ExitCode;
use tokio::runtime::Builder;
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
    /// Runs each history in a process of its own on one clock: it takes no longer than its computation, and is the same
    /// each time. Needs Linux and a C compiler
    #[arg(long, env = "CHAOS_ONE_CLOCK")]
    one_clock: bool,
    /// Prints the requests to the cluster, the calls of the driver, and the controller's log, such as
    /// local_cluster=debug,mock_driver=debug,lbcf_controller=debug
    #[arg(long, value_name = "FILTER", env = "CHAOS_LOG")]
    log: Option<String>,
    /// Prints findings as they are, without searching for the shortest history.
    #[arg(long, env = "CHAOS_NO_SHRINK")]
    no_shrink: bool,
}

fn main() -> std::io::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(filter) = &arguments.log {
        let log = tracing_subscriber::fmt().with_env_filter(filter);
        log.with_ansi(false).init();
    }
    // Threads would only take turns.
    let mut runtime = match OneClock::is_in_force() {
        true => Builder::new_current_thread(),
        false => Builder::new_multi_thread(),
    };
    let runtime = runtime.enable_all().build()?;
    // The histories share this thread; controllers and drivers run on the runtime's threads.
    Ok(runtime.block_on(async {
        match arguments.one_clock {
            true => run_on_one_clock(arguments).await,
            false => LocalSet::new().run_until(run_all(arguments)).await,
        }
    }))
}

/// Each in a process that runs one history as this one would without the flag.
async fn run_on_one_clock(arguments: Arguments) -> ExitCode {
    let chaos = std::env::current_exe().unwrap_or_else(|_| "chaos".into());
    let seeds = arguments.first..arguments.first.saturating_add(arguments.seeds);
    let mut more: Vec<&str> = arguments.log.iter().flat_map(|it| ["--log", it]).collect();
    more.extend(arguments.no_shrink.then_some("--no-shrink"));
    let run = |seed| {
        let one_clock = OneClock::of_history(seed, &chaos, &more);
        tokio::task::spawn_blocking(move || (seed, one_clock.output()))
    };
    let mut runs = futures::stream::iter(seeds)
        .map(run)
        .buffer_unordered(arguments.jobs.max(1));
    let mut failed = 0;
    while let Some(run) = runs.next().await {
        match run {
            Ok((_, Ok(execution))) if arguments.log.is_some() => print!("{}", execution.output),
            Ok((_, Ok(_))) => {}
            Ok((seed, Err(problem))) => {
                println!("seed {seed}:\n{problem}");
                failed += 1;
            }
            Err(error) => {
                println!("{error}");
                failed += 1;
            }
        }
    }
    println!("{} histories, {failed} findings", arguments.seeds);
    ExitCode::from(u8::from(failed > 0))
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
    let (mut done, mut panicked, mut failed) = (0_u64, 0, Vec::new());
    while let Some(result) = results.next().await {
        done += 1;
        match result {
            Ok((_, Ok(()))) => {}
            Ok((seed, Err(finding))) => {
                println!("seed {seed}:\n{finding}");
                failed.push((seed, finding));
            }
            Err(error) => {
                println!("a history panicked: {error}");
                panicked += 1;
            }
        }
        if done.is_multiple_of(50) {
            eprintln!(
                "{done} of {} histories, {} findings",
                arguments.seeds,
                failed.len() + panicked
            );
        }
    }
    println!("{done} histories, {} findings", failed.len() + panicked);
    if !arguments.no_shrink {
        for (seed, finding) in &failed {
            let (history, finding) = shrink(&history(*seed), finding.clone()).await;
            println!("\n{history}\n{finding}");
        }
    }
    if failed.is_empty() && panicked == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
