//! Spans of the process for an OpenTelemetry collector, joined with those of its callers and of what it calls by the
//! header `traceparent` (W3C Trace Context).
//!
//! Without the feature `otlp`, or without a variable that names the collector, nothing is collected and sent.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod exporter;

#[cfg(feature = "otlp")]
pub(crate) use exporter::layer;

use tracing::Span;

/// The `traceparent` of calls in a span that is sent to a collector.
#[must_use]
pub fn traceparent(span: &Span) -> Option<String> {
    #[cfg(feature = "otlp")]
    let traceparent = exporter::traceparent(span);
    #[cfg(not(feature = "otlp"))]
    let traceparent = {
        let _ = span;
        None
    };
    traceparent
}

/// Makes a span that has not been entered part of its caller's trace. `traceparent` has the form of version 00.
pub fn continue_trace(span: &Span, traceparent: &str) {
    #[cfg(feature = "otlp")]
    exporter::continue_trace(span, traceparent);
    #[cfg(not(feature = "otlp"))]
    let _ = (span, traceparent);
}

/// Sends what has not been sent, before the process ends. Blocks for 5 s at the most.
pub fn flush() {
    #[cfg(feature = "otlp")]
    exporter::flush();
}
