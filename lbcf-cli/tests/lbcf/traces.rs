//! Spans of controller and driver at an OpenTelemetry collector.

use crate::process::{lbcf, text};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// A collector of traces, and its URL.
fn collector() -> (String, Receiver<ExportTraceServiceRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let _ = sender.send(request(connection.unwrap()));
        }
    });
    (url, received)
}

fn request(connection: TcpStream) -> ExportTraceServiceRequest {
    let mut lines = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(lines.read_line(&mut head).unwrap() > 0, "{head}");
    }
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    let head = head.to_lowercase();
    let (_, rest) = head.split_once("content-length: ").unwrap();
    let length = rest.lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    lines.read_exact(&mut body).unwrap();
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    lines.get_mut().write_all(response).unwrap();
    ExportTraceServiceRequest::decode(&*body).unwrap()
}

fn attribute<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let mut attributes = attributes.iter();
    let value = attributes.find(|it| it.key == key)?.value.as_ref()?;
    match value {
        AnyValue {
            value: Some(Value::StringValue(text)),
        } => Some(text),
        _ => None,
    }
}

#[test]
fn spans_of_the_controller_and_of_the_driver_are_one_trace() {
    let (url, received) = collector();
    let output = lbcf(&["demo", "--once"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        .env("OTEL_BSP_MAX_QUEUE_SIZE", "100000")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let exported: Vec<_> = received
        .try_iter()
        .flat_map(|it| it.resource_spans)
        .collect();
    let resource = exported[0].resource.as_ref().unwrap();
    assert_eq!(
        attribute(&resource.attributes, "service.name"),
        Some("lbcf")
    );
    let scopes = exported.iter().flat_map(|it| &it.scope_spans);
    let spans: Vec<&Span> = scopes.flat_map(|it| &it.spans).collect();
    let find = |id: &[u8]| spans.iter().find(|span| span.span_id == id);
    let of_driver = spans.iter().filter(|span| {
        span.name == "webhook" && attribute(&span.attributes, "webhook") == Some("ensureBackend")
    });
    let mut joined = 0;
    for span in of_driver {
        let call = find(&span.parent_span_id).expect("the call of each webhook");
        let reconcile = find(&call.parent_span_id).expect("why it is called");
        assert_eq!([&*call.name, &*reconcile.name], ["call", "reconcile"]);
        let ids = [&call.trace_id, &reconcile.trace_id];
        assert_eq!(ids, [&span.trace_id; 2]);
        let logged: String = span
            .trace_id
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        for span in [span, call] {
            assert_eq!(attribute(&span.attributes, "traceID"), Some(&*logged));
        }
        joined += 1;
    }
    assert!(joined > 3, "{joined} of {} spans", spans.len());
}

#[test]
fn a_collector_that_does_not_exist_delays_nothing_but_the_end() {
    let output = lbcf(&["demo", "--once"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let log = text(&output.stderr);
    assert!(log.contains("opentelemetry"), "{log}");
    let refused = lbcf(&["controller"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "not a url")
        .output()
        .unwrap();
    let log = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{log}");
    assert!(log.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{log}");
}
