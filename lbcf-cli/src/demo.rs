//! `lbcf demo`: a load balancer from creation to deletion, without a cloud or a cluster.
//!
//! One process runs the embedded Kubernetes API, the mock cloud with its driver, and the
//! controller, which serves admission. The tour applies the manifests of `deploy/examples/` and changes objects as a user of
//! kubectl would. Whether a step has passed is read from the cloud, not from the controller. Meanwhile clients send
//! requests through the load balancer to the pods, and the tour fails if one of them does.

mod args;
mod cloud_view;
mod environment;
mod examples;
mod kubectl;
mod maps;
mod printer;
mod profile;
mod report;
mod scenario;
mod steps;
mod tour;

pub use crate::local_stack::StackError;
pub use args::{DemoArgs, DemoError, Output};
pub use mock_driver::TrafficReport;
pub use profile::fixture::FixtureProblem;
pub use report::{Report, StepReport};

use environment::DemoEnvironment;
use lbcf_serving::signals::Signals;
use lbcf_serving::streams;
use printer::Printer;

/// Runs the demo and prints it.
///
/// # Errors
/// [`DemoError`], if the environment cannot be started. A step that fails is part of the report.
pub async fn run(args: DemoArgs) -> Result<Report, DemoError> {
    let mut signals = Signals::listen()?;
    let printer = Printer::new(args.output);
    // What has been started by then ends with it.
    let mut environment = tokio::select! {
        environment = DemoEnvironment::start(&args) => environment?,
        _ = signals.next() => return Ok(Report::interrupted()),
    };
    let shown = show(&mut environment, &printer, &args, &mut signals).await;
    // The mock's cloud ends with the process, that of another driver does not. The tour does not delete its namespace.
    let may_be_left = match &shown {
        Ok(report) => report.interrupted || !args.once,
        Err(_) => true,
    };
    if environment.is_cluster_of_user || !environment.has_mock() && may_be_left {
        tokio::select! {
            () = tour::clean_up(&mut environment, &printer) => {}
            _ = signals.next() => {}
        }
    }
    environment.shut_down().await;
    shown
}

async fn show(
    environment: &mut DemoEnvironment,
    printer: &Printer,
    args: &DemoArgs,
    signals: &mut Signals,
) -> Result<Report, DemoError> {
    printer.header(&environment.introduction(), environment.kubeconfig())?;
    let report = tokio::select! {
        report = tour::run(environment, printer, args.pods) => report?,
        _ = signals.next() => {
            printer.line("interrupted")?;
            Report::interrupted()
        }
    };
    if args.output == Output::Json {
        let json = serde_json::to_string_pretty(&report).map_err(std::io::Error::from)?;
        streams::write(&format!("{json}\n"))?;
    }
    if !args.once && !report.interrupted {
        tokio::select! {
            set_up = tour::set_up_again(environment, printer, args.pods) => {
                set_up?;
                signals.next().await;
            }
            _ = signals.next() => {}
        }
    }
    Ok(report)
}
