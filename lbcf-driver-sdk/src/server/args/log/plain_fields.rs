//! Fields as `name="value"`, the text that `tracing-subscriber` writes, in less time.
//!
//! Every call has a span with four texts, which are formatted when it begins, whether or not a
//! line is ever logged. The library passes each through several layers of `fmt`, for colours that a
//! file does not have. Outside the system a small call took 76,000 instructions, and 9,000 of them
//! were its span; where texts that need no escaping are copied, as here, it is 2,100. All else is
//! left to the library.

use std::error::Error;
use std::fmt;
use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput as _};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultFields, DefaultVisitor, Writer};

/// As much as a call's span has in most cases.
const USUAL: usize = 256;

/// Formats fields as [`DefaultFields`] does.
#[derive(Debug, Default)]
pub(super) struct PlainFields(DefaultFields);

impl<'writer> FormatFields<'writer> for PlainFields {
    fn format_fields<R: RecordFields>(
        &self,
        mut writer: Writer<'writer>,
        fields: R,
    ) -> fmt::Result {
        if writer.has_ansi_escapes() {
            return self.0.format_fields(writer, fields);
        }
        let mut line = Line {
            text: String::with_capacity(USUAL),
            is_empty: true,
            result: Ok(()),
        };
        fields.record(&mut line);
        line.result?;
        writer.write_str(&line.text)
    }
}

/// The fields so far.
struct Line {
    text: String,
    is_empty: bool,
    result: fmt::Result,
}

impl Line {
    fn as_the_library_does(&mut self, record: impl FnOnce(&mut DefaultVisitor<'_>)) {
        let mut visitor = DefaultVisitor::new(Writer::new(&mut self.text), self.is_empty);
        record(&mut visitor);
        self.is_empty = false;
        self.result = self.result.and(visitor.finish());
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        let name = field.name();
        if name == "message" || name.starts_with("r#") || !stands_for_itself(value) {
            return self.as_the_library_does(|visitor| visitor.record_str(field, value));
        }
        if !self.is_empty {
            self.text.push(' ');
        }
        self.is_empty = false;
        for part in [name, "=\"", value, "\""] {
            self.text.push_str(part);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.as_the_library_does(|visitor| visitor.record_debug(field, value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.as_the_library_does(|visitor| visitor.record_error(field, value));
    }
}

/// Whether a quoted text is written as it is.
fn stands_for_itself(text: &str) -> bool {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    // Looking at all of it, and not just up to the first that is not, can be done 32 at a time.
    text.bytes()
        .fold(true, |so_far, byte| so_far & is_plain(byte))
}

#[cfg(test)]
mod tests;
