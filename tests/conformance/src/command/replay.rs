//! `replay`: sends the calls of a report's failed checks, or of the mock driver's journal, again, and
//! compares the responses.

mod compare;
mod journal;
mod plan;

use super::connection::ConnectionArgs;
use super::console::{CommandError, print, print_error};
use super::names;
use crate::exchange::{Exchange, NoResponse, RequestKind, Sent};
use crate::fixture::Endpoint;
use crate::output::human::layout::Page;
use crate::output::{curl_of, read, shown};
use crate::report::{ExchangeReport, Exit, Report};
use crate::settings::call_time;
use crate::transport::{Request, Transport};
use lbcf_serving::secret::Secret;
use plan::ReplayedCall;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// The limit of a report, in bytes.
const LONGEST_REPORT: u64 = 256 << 20;

/// The calls to repeat, and the driver.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONFORMANCE_"))]
#[command(
    after_help = "The calls are real: they may create and delete load balancers, without confirmation, and nothing is cleaned up. Exit code 0: all were sent; 1: some were not; 2: invalid arguments or an invalid report; 3: the driver cannot be reached."
)]
pub struct ReplayArgs {
    /// Report of `run --output json=FILE`, or the mock driver's `/_mock/requests/export`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// URL of the driver
    // The URL may contain a password, and help texts show the values of variables.
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub url: Secret,

    /// Only the calls of these checks, also if they passed: ids or groups, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Timeout of a call, up to 60s
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = call_time)]
    pub timeout: Duration,

    #[command(flatten)]
    /// The connection besides the URL.
    pub connection: ConnectionArgs,
}

pub(super) async fn run(args: &ReplayArgs) -> Result<Exit, CommandError> {
    let recorded = recorded(&args.file)?;
    let only = names::read("--only", &args.only)?;
    let endpoint = Endpoint::default();
    let transport = args.connection.transport(&args.url.0, &endpoint)?;
    let calls = match &recorded {
        Recorded::Report(report) => plan::calls(report, &only),
        Recorded::Journal(_) if !only.is_empty() => {
            return Err(CommandError::usage(
                "--only: a journal has no checks: select its calls by the query of its export, such as ?webhook=ensureBackend",
            ));
        }
        Recorded::Journal(exchanges) => plan::of_journal(exchanges),
    };
    if calls.is_empty() {
        print(match &recorded {
            Recorded::Journal(_) => "nothing to repeat: the journal has no calls\n",
            Recorded::Report(_) => {
                "nothing to repeat: the report has no calls of failed checks (select others with --only; `run --verbose` reports the calls of all)\n"
            }
        })?;
        return Ok(Exit::Passed);
    }
    let (count, url) = (calls.len(), transport.url_of(""));
    print_error(&format!(
        "sending {count} real calls to {url}; nothing is cleaned up"
    ));
    send_all(&transport, &calls, args.timeout).await
}

/// Sends the calls in their order.
async fn send_all(
    transport: &Transport,
    calls: &[ReplayedCall<'_>],
    timeout: Duration,
) -> Result<Exit, CommandError> {
    let (mut same, mut different, mut left_out) = (0, 0, 0);
    for call in calls {
        let mut page = Page::on_stdout();
        let old = call.exchange;
        let title = format!("{} #{}", call.check, old.sequence);
        let title = page.paint.strong(&title);
        page.line(&title);
        match &call.request {
            Err(why) => {
                left_out += 1;
                let url = shown(&old.url);
                page.line(format!("  left out: {} {url}: {why}", old.method));
            }
            Ok(request) => {
                let there = Sent {
                    url: transport.url_of(&request.path),
                    ..old.sent()
                };
                indented(&mut page, &curl_of(&there));
                let new = again(transport, old, request, timeout).await;
                let new = new.map_err(|problem| {
                    let _ = print(&page.text);
                    CommandError::new(Exit::Unreachable, problem)
                })?;
                indented(&mut page, &format!("then: {}", old.response()));
                indented(&mut page, &format!("now:  {}", new.response()));
                let (count, word) = match compare::is_same(old, &new) {
                    true => (&mut same, "the same"),
                    false => (&mut different, "different"),
                };
                *count += 1;
                page.line(format!("  {word}"));
            }
        }
        print(&page.text)?;
    }
    let all = same + different;
    print(&format!(
        "\n{all} repeated: {same} with the same response, {different} with another; {left_out} left out\n"
    ))?;
    Ok(match left_out {
        0 => Exit::Passed,
        _ => Exit::Failed,
    })
}

/// The old call with its new response.
///
/// # Errors
/// When the driver cannot be reached.
async fn again(
    transport: &Transport,
    old: &ExchangeReport,
    request: &Request,
    timeout: Duration,
) -> Result<ExchangeReport, String> {
    let began = Instant::now();
    let outcome = transport.send(request, timeout).await;
    if let Err(problem @ NoResponse::NotConnected(_)) = &outcome {
        let url = transport.url_of("");
        return Err(format!("the driver at {url} cannot be reached: {problem}"));
    }
    Ok(ExchangeReport::from(&Exchange {
        sequence: old.sequence,
        check: None,
        webhook: None,
        kind: RequestKind::Unusual,
        sent: old.sent(),
        outcome,
        took: began.elapsed(),
    }))
}

fn indented(page: &mut Page, text: &str) {
    for line in text.lines() {
        page.line(format!("  {line}"));
    }
}

/// Where calls come from.
#[derive(Debug)]
enum Recorded {
    Report(Box<Report>),
    Journal(Vec<ExchangeReport>),
}

fn recorded(path: &Path) -> Result<Recorded, CommandError> {
    let wrong = |problem: String| CommandError::usage(format!("{}: {problem}", path.display()));
    let text = crate::files::read_text(path, LONGEST_REPORT).map_err(wrong)?;
    if let Some(calls) = journal::read(&text) {
        return calls.map(Recorded::Journal).map_err(wrong);
    }
    let report = read(&text).map_err(|problem| {
        wrong(format!(
            "neither a report of `run --output json=FILE` nor a journal of the mock driver: {problem}"
        ))
    })?;
    Ok(Recorded::Report(Box::new(report)))
}
