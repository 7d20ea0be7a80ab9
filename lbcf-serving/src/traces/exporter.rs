//! Spans as OpenTelemetry's, and its variables: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`
//! and others.

use super::collector::{Collector, https};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, TraceContextExt, TraceFlags, TraceState, TracerProvider};
use opentelemetry_otlp::{
    OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, Protocol, SpanExporter,
    WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::OnceLock;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::registry::LookupSpan;

/// Of the process, once it sends spans.
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

pub(super) fn traceparent(span: &Span) -> Option<String> {
    let context = span.context();
    let span = context.span();
    let it = span.span_context();
    let (trace, span, flags) = (it.trace_id(), it.span_id(), it.trace_flags().to_u8());
    it.is_valid()
        .then(|| format!("00-{trace}-{span}-{flags:02x}"))
}

pub(super) fn continue_trace(span: &Span, traceparent: &str) {
    if let Some(caller) = parse(traceparent) {
        let parent = Context::new().with_remote_span_context(caller);
        // Nothing collects the span.
        let _ = span.set_parent(parent);
    }
}

fn parse(traceparent: &str) -> Option<SpanContext> {
    let mut parts = traceparent.split('-').skip(1);
    let trace = u128::from_str_radix(parts.next()?, 16).ok()?;
    let span = u64::from_str_radix(parts.next()?, 16).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(parts.next()?, 16).ok()?);
    let (trace, span) = (trace.into(), span.into());
    Some(SpanContext::new(trace, span, flags, true, TraceState::NONE))
}

pub(super) fn flush() {
    if let Some(provider) = PROVIDER.get() {
        // The exporter logs what it could not send.
        let _ = provider.shutdown();
    }
}

/// Sends spans of level info, whatever the log shows, to the collector that a variable names.
pub(crate) fn layer<S>() -> Result<Option<impl Layer<S>>, Box<dyn Error + Send + Sync>>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let endpoints = [
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
        OTEL_EXPORTER_OTLP_ENDPOINT,
    ];
    let mut endpoints = endpoints.into_iter().filter_map(|name| env::var(name).ok());
    let Some(endpoint) = endpoints.find(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let exporter = SpanExporter::builder().with_http();
    let exporter = exporter.with_protocol(Protocol::HttpBinary);
    let exporter = match endpoint.starts_with("https:") {
        true => exporter.with_http_client(Collector::new(https()?)?),
        false => exporter.with_http_client(Collector::new(HttpConnector::new())?),
    };
    let exporter = exporter.build()?;
    let resource = Resource::builder();
    let resource = match env::var_os("OTEL_SERVICE_NAME") {
        Some(_) => resource,
        None => resource.with_service_name(program()),
    };
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource.build())
        .build();
    let provider = PROVIDER.get_or_init(|| provider);
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("lbcf"));
    Ok(Some(layer.with_filter(LevelFilter::INFO)))
}

/// The name of the program's file.
fn program() -> String {
    let path = env::args_os().next().unwrap_or_default();
    let name = Path::new(&path).file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_the_context_of_the_caller() {
        let text = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
        let caller = parse(&format!("00-{text}-01")).unwrap();
        assert!(caller.is_valid() && caller.is_remote() && caller.is_sampled());
        let (trace, span) = (caller.trace_id(), caller.span_id());
        assert_eq!(format!("{trace}-{span}"), text);
        assert!(!parse(&format!("00-{text}-00")).unwrap().is_sampled());
        assert!(parse("00-no").is_none());
    }
}
