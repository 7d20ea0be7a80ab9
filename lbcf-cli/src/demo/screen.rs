//! What people see of the demo, as it happens.

use super::Output;
use super::report::{Report, StepReport};
use super::stage::{self, Stage};
use std::io::{IsTerminal, Result, Write};

/// Where the text goes. With JSON as output nothing is shown until the end.
#[derive(Debug)]
pub(super) struct Screen {
    is_on: bool,
    has_colour: bool,
}

impl Screen {
    pub(super) fn new(output: Output) -> Self {
        let has_colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self {
            is_on: output == Output::Text,
            has_colour,
        }
    }

    pub(super) fn line(&self, text: impl AsRef<str>) -> Result<()> {
        if !self.is_on {
            return Ok(());
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", text.as_ref())?;
        out.flush()
    }

    pub(super) fn opening(&self, stage: &Stage) -> Result<()> {
        if !self.is_on {
            // Standard output is for the document alone.
            return writeln!(
                std::io::stderr(),
                "kubeconfig: {}",
                stage.kubeconfig.display()
            );
        }
        self.line("LBCF demo: a Kubernetes API, a cloud with its driver and the controller, in this process")?;
        self.line(format!("  kubeconfig  {}", stage.kubeconfig.display()))?;
        self.line(format!("  cluster     {}", stage.cluster_url()))?;
        self.line(format!("  driver      {}", stage.driver_url))?;
        if stage.has_mock() {
            self.line(format!("  cloud       {}/_mock/state", stage.driver_url))?;
        }
        self.line(format!(
            "  {} leads to the driver, as cluster DNS would make it",
            stage::host()
        ))
    }

    pub(super) fn step_begins(
        &self,
        number: usize,
        of: usize,
        id: &str,
        title: &str,
    ) -> Result<()> {
        self.line("")?;
        self.line(format!(
            "{}  {title}",
            self.bold(&format!("[{number}/{of}] {id}"))
        ))
    }

    pub(super) fn command(&self, command: &str) -> Result<()> {
        self.line(format!("  {} {command}", self.dim("$")))
    }

    pub(super) fn note(&self, text: &str) -> Result<()> {
        self.line(format!("  {}", self.dim(&format!("# {text}"))))
    }

    pub(super) fn step_ends(&self, step: &StepReport, cloud: &[String]) -> Result<()> {
        if let Some(reason) = &step.skipped {
            return self.line(format!("  skipped: {reason}"));
        }
        let calls: Vec<String> = step
            .webhooks
            .iter()
            .map(|(webhook, count)| format!("{webhook} x{count}"))
            .collect();
        let calls = if calls.is_empty() {
            "none".to_owned()
        } else {
            calls.join(", ")
        };
        self.line(format!("  webhooks  {calls}"))?;
        for (at, line) in cloud.iter().enumerate() {
            let label = if at == 0 { "cloud     " } else { "          " };
            self.line(format!("  {label}{line}"))?;
        }
        let seconds = step.ms as f64 / 1000.0;
        match &step.error {
            None => self.line(format!("  {} in {seconds:.1} s", self.green("passed"))),
            Some(error) => self.line(format!(
                "  {} after {seconds:.1} s: {error}",
                self.red("FAILED")
            )),
        }
    }

    pub(super) fn closing(&self, report: &Report) -> Result<()> {
        self.line("")?;
        for leak in &report.leaked {
            self.line(format!("  {} {leak}", self.red("left behind:")))?;
        }
        let taken = report
            .steps
            .iter()
            .filter(|step| step.skipped.is_none())
            .count();
        let passed = report.steps.iter().filter(|step| step.passed).count();
        let skipped = report.steps.len() - taken;
        let skipped = if skipped > 0 {
            format!(", {skipped} skipped")
        } else {
            String::new()
        };
        let verdict = if report.passed {
            self.green("passed")
        } else {
            self.red("FAILED")
        };
        let left = if report.leaked.is_empty() {
            "nothing was left behind"
        } else {
            "something was left behind"
        };
        self.line(format!(
            "{verdict}: {passed} of {taken} steps{skipped}; {left}"
        ))
    }

    fn bold(&self, text: &str) -> String {
        self.style("1", text)
    }

    fn dim(&self, text: &str) -> String {
        self.style("2", text)
    }

    fn green(&self, text: &str) -> String {
        self.style("32", text)
    }

    fn red(&self, text: &str) -> String {
        self.style("31", text)
    }

    fn style(&self, code: &str, text: &str) -> String {
        if self.has_colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
