//! The output of `lbcf dev`: calls on standard output, everything else on standard error.

use super::args::Output;
use super::proxy::UNREACHABLE;
use lbcf_conformance::output::one_line;
use lbcf_serving::streams;
use mock_driver::JournalEntry;
use std::cell::Cell;
use std::io::{IsTerminal, Result, Write};

#[derive(Debug)]
pub(super) struct Printer {
    output: Output,
    /// The driver that the session has not started itself.
    driver_url: Option<String>,
    is_unreachable: Cell<bool>,
}

impl Printer {
    pub(super) fn new(output: Option<Output>, driver_url: Option<&str>) -> Self {
        let by_default = match std::io::stdout().is_terminal() {
            true => Output::Text,
            false => Output::Json,
        };
        Self {
            output: output.unwrap_or(by_default),
            driver_url: driver_url.map(str::to_owned),
            is_unreachable: Cell::default(),
        }
    }

    /// # Errors
    /// Standard output is closed.
    pub(super) fn call(&self, call: &JournalEntry) -> Result<()> {
        let is_unreachable = call.http_status == Some(UNREACHABLE.as_u16());
        if self.is_unreachable.replace(is_unreachable) != is_unreachable {
            self.reachability(call, is_unreachable);
        }
        let line = match self.output {
            Output::Text if is_unreachable => return Ok(()),
            Output::Text if call.webhook == "healthz" && call.status == "Succ" => return Ok(()),
            Output::Text => text(call),
            Output::Json => serde_json::to_string(call)?,
        };
        streams::write(&format!("{line}\n"))
    }

    /// One line, although every call is repeated. What a session has started itself is reported by its process.
    fn reachability(&self, call: &JournalEntry, is_unreachable: bool) {
        let Some(url) = &self.driver_url else { return };
        if !is_unreachable {
            return self.notice("ready", "the driver responds again");
        }
        let why = one_line(&call.msg);
        let help = format!("start it at {url}, or name its address by --driver-url");
        self.notice("error", format!("{why}; {help}"));
    }

    /// Something that has happened, with a word that says what kind of thing it is.
    pub(super) fn notice(&self, word: &str, text: impl AsRef<str>) {
        // A closed stderr does not end the session.
        let _ = writeln!(std::io::stderr(), "{word:<10}  {}", text.as_ref());
    }
}

/// Time, webhook, outcome, duration, and what it is about.
fn text(call: &JournalEntry) -> String {
    // 2026-01-31T12:00:00.123456Z
    let time = call.time.get(11..19).unwrap_or(&call.time);
    let ms = call.micros.div_ceil(1000);
    let about = [&call.load_balancer, &call.address, &call.msg];
    let about = about.map(|text| one_line(text));
    let about: Vec<_> = about.into_iter().filter(|it| !it.is_empty()).collect();
    let line = format!(
        "{time}  {:<20}  {:<8}  {ms:>5} ms  {}",
        call.webhook,
        one_line(&call.status),
        about.join("  ")
    );
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_a_line() {
        let call = JournalEntry {
            time: "2026-01-31T12:00:01.5Z".into(),
            micros: 2100,
            webhook: "ensureBackend".into(),
            status: "Fail".into(),
            load_balancer: "lb-1/80".into(),
            msg: "quota\n\u{1b}[2Jreached".into(),
            ..JournalEntry::default()
        };
        assert_eq!(
            text(&call),
            "12:00:01  ensureBackend         Fail          3 ms  lb-1/80  quota \\x1b[2Jreached"
        );
    }
}
