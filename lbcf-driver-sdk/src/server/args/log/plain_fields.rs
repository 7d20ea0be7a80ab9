//! Formats fields as `name="value"`, like `tracing-subscriber`, but copies texts that need no escaping.
//!
//! Every call has a span with four texts, which are formatted when it is created, whether or not a
//! line is logged. Copying them saves 7,000 instructions per call (the README's section on speed).
//! Everything else is left to the library.

use std::error::Error;
use std::fmt;
use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput as _};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultFields, DefaultVisitor, Writer};

/// Enough for the span of most calls, in bytes.
const CAPACITY: usize = 256;

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
        let mut formatted = FormattedFields {
            text: String::with_capacity(CAPACITY),
            is_empty: true,
            result: Ok(()),
        };
        fields.record(&mut formatted);
        formatted.result?;
        writer.write_str(&formatted.text)
    }
}

struct FormattedFields {
    text: String,
    is_empty: bool,
    result: fmt::Result,
}

impl FormattedFields {
    fn by_library(&mut self, record: impl FnOnce(&mut DefaultVisitor<'_>)) {
        let mut visitor = DefaultVisitor::new(Writer::new(&mut self.text), self.is_empty);
        record(&mut visitor);
        self.is_empty = false;
        self.result = self.result.and(visitor.finish());
    }
}

impl Visit for FormattedFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        let name = field.name();
        if name == "message" || name.starts_with("r#") || !needs_no_escaping(value) {
            return self.by_library(|visitor| visitor.record_str(field, value));
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
        self.by_library(|visitor| visitor.record_debug(field, value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.by_library(|visitor| visitor.record_error(field, value));
    }
}

fn needs_no_escaping(text: &str) -> bool {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests;
