//! Writes the journal's entry of a call, at the latest when the call is dropped: because the client
//! closed the connection, or the driver was killed.

use super::facts::{self, CallFacts};
use crate::cloud::Cloud;
use crate::journal::{JournalEntry, RecordedText};
use crate::no_answer::NoAnswer;
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use lbcf_driver_sdk::webhook::{Class, WebhookInfo};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::Instant;

pub(super) struct Recorder {
    cloud: Cloud,
    journal_size: usize,
    class: Class,
    started: Instant,
    entry: JournalEntry,
    response: RecordedText,
}

impl Recorder {
    pub(super) fn new(cloud: Cloud, journal_size: usize, webhook: &WebhookInfo) -> Self {
        Self {
            cloud,
            journal_size,
            class: webhook.class,
            started: Instant::now(),
            entry: JournalEntry {
                webhook: webhook.name.to_owned(),
                time: jiff::Timestamp::now().to_string(),
                status: "NoAnswer".to_owned(),
                msg: "the client closed the connection, or the driver was killed".to_owned(),
                ..JournalEntry::default()
            },
            response: RecordedText::default(),
        }
    }

    pub(super) fn request(&mut self, facts: &CallFacts, body: &[u8]) {
        let entry = &mut self.entry;
        entry.record_id.clone_from(&facts.record_id);
        entry.retry_id.clone_from(&facts.retry_id);
        entry.dry_run = facts.dry_run;
        entry.load_balancer = facts::shown(&facts.lb_info);
        entry.address = facts.address.last().cloned().unwrap_or_default();
        (entry.request, entry.request_cut) = RecordedText::of(body).into_text();
    }

    pub(super) fn fault(&mut self, label: String) {
        self.entry.fault = Some(label);
    }

    /// The same response, which the entry gets as it is sent.
    pub(super) fn response(mut self, response: Response) -> Response {
        self.entry.http_status = Some(response.status().as_u16());
        response.map(|body| {
            Body::new(RecordedBody {
                body,
                recorder: Some(self),
            })
        })
    }

    /// A response that the client does not receive.
    pub(super) fn lost(&mut self, status: StatusCode, body: &[u8]) {
        self.entry.http_status = Some(status.as_u16());
        self.response.push(body);
    }

    pub(super) fn no_answer(mut self, how: NoAnswer, why: &str) -> Response {
        self.entry.msg = why.to_owned();
        how.response(why)
    }

    /// Fills in the outcome of a response that was sent, as far as it was.
    fn outcome(&mut self) {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct AnyResponse {
            status: Option<String>,
            succ: Option<bool>,
            healthy: Option<bool>,
            msg: Option<String>,
            lb_info: Option<BTreeMap<String, Value>>,
            error: Option<String>,
        }
        let entry = &mut self.entry;
        let read = serde_json::from_slice::<AnyResponse>(self.response.begin());
        let is_read = read.is_ok();
        let response = read.unwrap_or_default();
        let word = |flag: Option<bool>, yes: &str, no: &str| {
            flag.map(|flag| if flag { yes } else { no }.to_owned())
        };
        let status = match self.class {
            Class::Operation => response.status,
            Class::Verdict => word(response.succ, "Accepted", "Refused"),
            Class::Health => word(response.healthy, "Succ", "Fail"),
        };
        entry.msg = response.msg.or(response.error).unwrap_or_default();
        entry.status = match status {
            _ if entry.http_status != Some(200) => "Rejected".to_owned(),
            Some(status) => status,
            None if is_read => "Invalid".to_owned(),
            None => "Malformed".to_owned(),
        };
        if entry.load_balancer.is_empty() {
            entry.load_balancer = facts::shown(&facts::texts(response.lb_info));
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let mut entry = std::mem::take(&mut self.entry);
        entry.micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        (entry.response, entry.response_cut) = std::mem::take(&mut self.response).into_text();
        let JournalEntry {
            webhook,
            record_id,
            status,
            msg,
            fault,
            ..
        } = &entry;
        tracing::debug!(webhook, record_id, status, msg, fault, "replied");
        self.cloud.call_log().add(entry, self.journal_size);
    }
}

/// A response's body, of which the journal gets a copy.
struct RecordedBody {
    body: Body,
    recorder: Option<Recorder>,
}

impl RecordedBody {
    /// Writes the entry. It has the outcome even if the body has broken off: that is what was sent.
    fn end(&mut self) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.outcome();
        }
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        self.end();
    }
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(frame))) => {
                if let (Some(data), Some(recorder)) = (frame.data_ref(), &mut self.recorder) {
                    recorder.response.push(data);
                }
                // Before the client has the last byte, the journal has the entry.
                if self.body.is_end_stream() {
                    self.end();
                }
            }
            Poll::Ready(Some(Err(_)) | None) => self.end(),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
