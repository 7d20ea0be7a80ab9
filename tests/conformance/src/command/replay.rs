//! `replay`: sends the calls of a report's failed checks again, and shows what is different.

mod compare;
mod plan;

use super::connection::ConnectionArgs;
use super::page::Page;
use super::values::{Secret, call_time};
use super::verbose::{answer, sent};
use super::{Stop, names, print, tell};
use crate::exchange::NoAnswer;
use crate::fixture::Endpoint;
use crate::output::{curl_of, read, shown};
use crate::report::{ExchangeReport, Exit, Report};
use crate::transport::Transport;
use plan::{Again, Step};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// No report is longer, in bytes.
const LONGEST_REPORT: u64 = 256 << 20;

/// Which calls are sent again, and where to.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "The calls are sent for real, and nothing is asked: they may create and delete load balancers, and nothing is cleaned up. Exit code 0: all were sent; 1: some were not; 2: the arguments or the report are wrong; 3: the driver cannot be reached."
)]
pub struct ReplayArgs {
    /// Report as `run --output json=FILE` writes it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// URL of the driver
    // It may have a password, and help texts show variables' values.
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    pub url: Secret,

    /// Only the calls of these checks, whether they failed or not: ids or groups, with commas
    /// between them
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_ONLY",
        value_name = "IDS",
        value_delimiter = ','
    )]
    pub only: Vec<String>,

    /// How long a call may take, up to 60s
    #[arg(long, env = "LBCF_CONFORMANCE_TIMEOUT", value_name = "DURATION", default_value = "10s",
        value_parser = call_time)]
    pub timeout: Duration,

    #[command(flatten)]
    /// How the driver is reached beyond its URL.
    pub connection: ConnectionArgs,
}

pub(super) async fn run(args: &ReplayArgs) -> Result<Exit, Stop> {
    let report = report(&args.file)?;
    let only = names::read("--only", &args.only)?;
    let transport = args
        .connection
        .transport(&args.url.0, &Endpoint::default())?;
    let steps = plan::steps(&report, &only);
    if steps.is_empty() {
        print(
            "nothing to send again: the report has no calls of failed checks (--only names others; `run --verbose` keeps the calls of all)\n",
        )?;
        return Ok(Exit::Passed);
    }
    tell(&format!(
        "{} calls are sent to {} for real; nothing is cleaned up",
        steps.len(),
        transport.url_of("")
    ));
    send_all(&transport, &steps, args.timeout).await
}

/// Sends what can be sent, in order.
async fn send_all(
    transport: &Transport,
    steps: &[Step<'_>],
    timeout: Duration,
) -> Result<Exit, Stop> {
    let (mut same, mut different, mut left_out) = (0, 0, 0);
    for step in steps {
        let mut page = Page::on_stdout();
        let old = step.exchange;
        let title = format!("{} #{}", step.check, old.sequence);
        let title = page.paint.strong(title);
        page.line(&title);
        match &step.again {
            Again::LeftOut(why) => {
                left_out += 1;
                page.line(&format!(
                    "  left out: {} {}: {why}",
                    old.method,
                    shown(&old.url)
                ));
            }
            Again::Send(request) => {
                let mut there = old.clone();
                there.url = transport.url_of(&request.path);
                indented(&mut page, &curl_of(&sent(&there)));
                let began = Instant::now();
                let outcome = transport.send(request, timeout).await;
                if let Err(problem @ NoAnswer::NotConnected(_)) = &outcome {
                    print(&page.text)?;
                    return Err(Stop::unreachable(format!(
                        "the driver at {} cannot be reached: {problem}",
                        transport.url_of("")
                    )));
                }
                let new = plan::answered(old, outcome, began.elapsed());
                indented(&mut page, &format!("then: {}", answer(old)));
                indented(&mut page, &format!("now:  {}", answer(&new)));
                if compare::is_same(old, &new) {
                    same += 1;
                    page.line("  the same");
                } else {
                    different += 1;
                    page.line("  different");
                }
            }
        }
        print(&page.text)?;
    }
    print(&format!(
        "\n{} sent again: {same} answered as before, {different} differently; {left_out} left out\n",
        same + different
    ))?;
    Ok(if left_out > 0 {
        Exit::Failed
    } else {
        Exit::Passed
    })
}

fn indented(page: &mut Page, text: &str) {
    for line in text.lines() {
        page.line(&format!("  {line}"));
    }
}

fn report(path: &Path) -> Result<Report, Stop> {
    let wrong = |problem: String| Stop::usage(format!("{}: {problem}", path.display()));
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST_REPORT + 1).read_to_string(&mut text))
        .map_err(|problem| wrong(problem.to_string()))?;
    if text.len() as u64 > LONGEST_REPORT {
        return Err(wrong(format!("longer than {LONGEST_REPORT} bytes")));
    }
    read(&text).map_err(|problem| {
        wrong(format!(
            "not a report as `run --output json=FILE` writes it: {problem}"
        ))
    })
}

/// For the modules below.
type Old = ExchangeReport;
