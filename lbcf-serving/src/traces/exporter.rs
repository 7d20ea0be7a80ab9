//! Spans as OpenTelemetry's, and its variables: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`
//! and others.

use super::collector::{CollectorClient, https};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{
    OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, Protocol, SpanExporter,
    WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::OnceLock;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::registry::LookupSpan;

/// Set when the process starts to send spans.
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

const TRACEPARENT: &str = "traceparent";

pub(super) fn traceparent(span: &Span) -> Option<String> {
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
    headers.remove(TRACEPARENT)
}

pub(super) fn continue_trace(span: &Span, traceparent: &str) {
    let headers = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    // It fails if no collector gets the span.
    let _ = span.set_parent(parent);
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
        true => exporter.with_http_client(CollectorClient::new(https()?)?),
        false => exporter.with_http_client(CollectorClient::new(HttpConnector::new())?),
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
