//! The text output of the demo.

use super::args::Output;
use super::report::{Report, StepReport};
use lbcf_serving::streams::{self, has_color};
use mock_driver::TrafficReport;
use std::io::{Result, Write};
use std::path::Path;

/// Prints the tour while it runs; with JSON as output it prints nothing.
#[derive(Debug)]
pub(super) struct Printer {
    is_enabled: bool,
    has_colour: bool,
}

/// Styles of ANSI terminals.
const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
/// The most pods that are shown with their requests.
const PODS_SHOWN: usize = 8;

fn summary_of(traffic: &TrafficReport) -> String {
    let mut pods: Vec<_> = traffic.by_backend.iter().collect();
    pods.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut shown: Vec<String> = pods
        .iter()
        .take(PODS_SHOWN)
        .map(|(pod, count)| format!("{pod} {count}"))
        .collect();
    if pods.len() > PODS_SHOWN {
        shown.push(format!("{} more pods", pods.len() - PODS_SHOWN));
    }
    let (requests, failed) = (traffic.requests, traffic.failed);
    format!("{requests} requests, {failed} failed; {}", shown.join(", "))
}

impl Printer {
    pub(super) fn new(output: Output) -> Self {
        let has_colour = has_color(&std::io::stdout());
        Self {
            is_enabled: output == Output::Text,
            has_colour,
        }
    }

    pub(super) fn line(&self, text: impl AsRef<str>) -> Result<()> {
        if !self.is_enabled {
            return Ok(());
        }
        streams::write(&format!("{}\n", text.as_ref()))
    }

    pub(super) fn header(&self, introduction: &[String], kubeconfig: &Path) -> Result<()> {
        if !self.is_enabled {
            // Standard output is reserved for the JSON document.
            return writeln!(std::io::stderr(), "kubeconfig: {}", kubeconfig.display());
        }
        self.line("LBCF demo: a Kubernetes API, a cloud with its driver and the controller, in this process")?;
        introduction.iter().try_for_each(|line| self.line(line))
    }

    pub(super) fn step_started(
        &self,
        number: usize,
        of: usize,
        id: &str,
        title: &str,
    ) -> Result<()> {
        self.line("")?;
        self.line(format!(
            "{}  {title}",
            self.style(BOLD, &format!("[{number}/{of}] {id}"))
        ))
    }

    pub(super) fn command(&self, command: &str) -> Result<()> {
        self.line(format!("  {} {command}", self.style(DIM, "$")))
    }

    pub(super) fn note(&self, text: &str) -> Result<()> {
        self.line(format!("  {}", self.style(DIM, &format!("# {text}"))))
    }

    pub(super) fn step_ended(&self, step: &StepReport, cloud: &[String]) -> Result<()> {
        if let Some(reason) = &step.skipped {
            return self.line(format!("  skipped: {reason}"));
        }
        let calls = step.webhooks.iter();
        let calls: Vec<_> = calls
            .map(|(webhook, count)| format!("{webhook} x{count}"))
            .collect();
        let calls = match calls.is_empty() {
            true => "none".to_owned(),
            false => calls.join(", "),
        };
        self.line(format!("  webhooks  {calls}"))?;
        for (at, line) in cloud.iter().enumerate() {
            let label = if at == 0 { "cloud     " } else { "          " };
            self.line(format!("  {label}{line}"))?;
        }
        if let Some(traffic) = &step.traffic {
            self.line(format!("  traffic   {}", summary_of(traffic)))?;
            for error in &traffic.errors {
                self.line(format!(
                    "            {} {error}",
                    self.style(RED, "failed:")
                ))?;
            }
        }
        let seconds = step.ms as f64 / 1000.0;
        match &step.error {
            None => self.line(format!(
                "  {} in {seconds:.1} s",
                self.style(GREEN, "passed")
            )),
            Some(error) => self.line(format!(
                "  {} after {seconds:.1} s: {error}",
                self.style(RED, "FAILED")
            )),
        }
    }

    pub(super) fn summary(&self, report: &Report) -> Result<()> {
        self.line("")?;
        for leak in &report.leaked {
            self.line(format!("  {} {leak}", self.style(RED, "left behind:")))?;
        }
        if let Some(traffic) = &report.traffic {
            self.line(format!("traffic: {}", summary_of(traffic)))?;
        }
        let skipped = report
            .steps
            .iter()
            .filter(|step| step.skipped.is_some())
            .count();
        let passed = report.steps.iter().filter(|step| step.passed).count();
        let taken = report.steps.len() - skipped;
        let skipped = match skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        let verdict = match report.passed {
            true => self.style(GREEN, "passed"),
            false => self.style(RED, "FAILED"),
        };
        let left = match report.leaked.is_empty() {
            true => "nothing was left behind",
            false => "something was left behind",
        };
        self.line(format!(
            "{verdict}: {passed} of {taken} steps{skipped}; {left}"
        ))
    }

    fn style(&self, code: &str, text: &str) -> String {
        if self.has_colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
