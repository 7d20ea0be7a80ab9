//! `watch`: existing objects, then changes, as a stream of JSON lines.
//!
//! A watch reads the resource's watch cache at its own pace and shares the encoded objects with all
//! other watches. It costs a position in the watch cache and the frames in flight; a client that does
//! not read uses no more memory, and gets an `Expired` error once the watch cache has moved on.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::{Stream, stream};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::accept::Transform;
use super::call::Call;
use super::list_options::{ListOptions, WatchStart};
use super::read::{Selection, reach};
use super::response;
use super::table::{self, Include};
use crate::resources::Kind;
use crate::status::ApiError;
use crate::store::{EventType, Range, Scan, StoreEvent, Stored, WatchCursor};
use crate::writer::Cluster;

const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The last bookmark precedes the end by this, so that the client resumes with a recent version.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// The number of changes that are encoded at a time.
const BATCH: usize = 64;
/// The number of existing objects that are read at a time.
const PIECE: usize = 512;
/// Objects of this size, in bytes, are sent without copying; smaller ones are combined into one
/// frame.
const LONG: usize = 4096;

/// A request extension by which a server ends its watches at shutdown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(pub(crate) CancellationToken);

pub(super) async fn watch(call: &Call<'_>) -> Result<Response, ApiError> {
    let options = ListOptions::of_watch(call.params)?;
    let selection = Selection::of(call)?;
    let (kind, form, store) = (call.kind, call.form, &call.cluster.store);
    let (mut initial, mut error) = (None, None);
    let position = match options.watch()? {
        WatchStart::Now => store.revision(),
        // A future revision is valid: the watch sends nothing before it.
        WatchStart::After(revision) => revision,
        WatchStart::Objects(revision) => {
            // The request is valid, so the error is sent as an event.
            error = reach(store, revision).await.err();
            initial = Some(String::new());
            store.revision()
        }
    };
    let stop = call.parts.extensions.get::<Stop>().cloned();
    let stop = stop.unwrap_or_default();
    let now = Instant::now();
    let deadline = now + options.timeout();
    let watch = WatchStream {
        follower: WatchCursor::of(store, &kind.storage, position),
        cluster: Arc::clone(call.cluster),
        prefix: kind.type_prefix(),
        kind: Arc::clone(kind),
        selection,
        transform: form.transform,
        include: form.include,
        columns_sent: false,
        began: position,
        piece: VecDeque::new(),
        rest: initial,
        sends_initial_events_end: options.sends_initial_events_end(),
        out: Vec::new(),
        frames: VecDeque::new(),
        deadline,
        next_bookmark: bookmark_after(now, deadline).filter(|_| options.bookmarks),
        bookmark_due: false,
        error,
        ended: false,
        stops: [stop.0, call.cluster.stop.clone()],
    };
    Ok(response::bytes(
        StatusCode::OK,
        "application/json",
        Body::from_stream(watch.into_stream()),
    ))
}

/// The time of the next bookmark; `None` after the last.
fn bookmark_after(now: Instant, deadline: Instant) -> Option<Instant> {
    let last = deadline.checked_sub(LAST_BOOKMARK)?;
    (last > now).then(|| last.min(now + BOOKMARK_EVERY))
}

struct WatchStream {
    follower: WatchCursor,
    cluster: Arc<Cluster>,
    kind: Arc<Kind>,
    prefix: String,
    selection: Selection,
    transform: Transform,
    include: Include,
    columns_sent: bool,
    /// The revision at which the watch started.
    began: u64,
    /// Existing objects that were read and not yet sent.
    piece: VecDeque<Arc<Stored>>,
    /// The key at which reading them continues.
    rest: Option<String>,
    sends_initial_events_end: bool,
    out: Vec<u8>,
    frames: VecDeque<Bytes>,
    deadline: Instant,
    next_bookmark: Option<Instant>,
    bookmark_due: bool,
    error: Option<ApiError>,
    ended: bool,
    stops: [CancellationToken; 2],
}

impl WatchStream {
    fn into_stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        stream::unfold(self, |mut watch| async move {
            let frame = watch.next().await?;
            Some((Ok(frame), watch))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Some(frame);
            }
            if self.ended {
                return None;
            }
            if self.fill() {
                self.end_frame();
            } else {
                self.wait().await;
            }
        }
    }

    /// Encodes what can be sent without waiting; returns whether there was anything.
    fn fill(&mut self) -> bool {
        if let Some(error) = self.error.take() {
            self.fail(&error);
            return true;
        }
        if !self.piece.is_empty() {
            for _ in 0..BATCH {
                let Some(stored) = self.piece.pop_front() else {
                    break;
                };
                if self.selection.matches(&stored) {
                    self.send("ADDED", &stored);
                }
            }
            return true;
        }
        if let Some(from) = self.rest.take() {
            self.next_piece(&from);
            return true;
        }
        if std::mem::take(&mut self.sends_initial_events_end) {
            self.send_bookmark(true);
            return true;
        }
        match self.follower.take(BATCH) {
            Ok(changes) => {
                for change in &changes {
                    self.send_change(change);
                }
                let any = !changes.is_empty();
                // Everything up to the follower's position has been sent.
                let marks = !any && std::mem::take(&mut self.bookmark_due);
                if marks && self.follower.position() > self.began {
                    self.send_bookmark(false);
                    return true;
                }
                any
            }
            Err(expired) => {
                self.fail(&ApiError::expired(self.follower.position(), expired.oldest));
                true
            }
        }
    }

    /// Reads the next existing objects.
    fn next_piece(&mut self, from: &str) {
        let range = Range {
            from,
            ..self.selection.range(&self.kind)
        };
        let scan = Scan {
            resource: &self.kind.storage,
            range,
            at: Some(self.began),
            take: Some(PIECE),
            counts: false,
        };
        match self.cluster.store.find(&scan) {
            Ok(found) => {
                let last = found.objects.last().filter(|_| found.total > PIECE);
                self.rest = last.map(|last| format!("{}\0", self.selection.key(last)));
                self.piece = found.objects.into();
            }
            // The client read too slowly.
            Err(expired) => self.fail(&ApiError::expired(self.began, expired.oldest)),
        }
    }

    fn fail(&mut self, error: &ApiError) {
        self.line(&json!({"type": "ERROR", "object": error.to_value()}));
        self.ended = true;
    }

    async fn wait(&mut self) {
        let wake_at = self
            .next_bookmark
            .map_or(self.deadline, |at| at.min(self.deadline));
        let [stop, cluster_stop] = &self.stops;
        tokio::select! {
            () = stop.cancelled() => self.ended = true,
            () = cluster_stop.cancelled() => self.ended = true,
            () = self.follower.wait() => {}
            () = tokio::time::sleep_until(wake_at) => {
                let now = Instant::now();
                self.ended = now >= self.deadline;
                if self.next_bookmark.is_some_and(|at| at <= now) {
                    self.bookmark_due = true;
                    self.next_bookmark = bookmark_after(now, self.deadline);
                }
            }
        }
    }

    fn send_change(&mut self, change: &StoreEvent) {
        let before = change
            .previous
            .as_ref()
            .is_some_and(|previous| self.selection.matches(previous));
        let now = change.kind != EventType::Deleted && self.selection.matches(&change.object);
        match (before, now) {
            (false, true) => self.send("ADDED", &change.object),
            (true, true) => self.send("MODIFIED", &change.object),
            (true, false) if change.kind == EventType::Deleted => {
                self.send("DELETED", &change.object);
            }
            (true, false) => {
                // It no longer matches: sent as it last matched, with the version of the change.
                if let Some(left) = change.previous_at_revision() {
                    self.send("DELETED", left);
                }
            }
            (false, false) => {}
        }
    }

    fn send(&mut self, event: &str, stored: &Stored) {
        match self.transform {
            Transform::None | Transform::Aggregated => {
                let object = response::object_rest(&self.kind, stored);
                self.write(&["{\"type\":\"", event, "\",\"object\":"]);
                self.out.extend_from_slice(self.prefix.as_bytes());
                if object.len() >= LONG {
                    self.end_frame();
                    self.frames.push_back(object);
                } else {
                    self.out.extend_from_slice(&object);
                }
                self.write(&["}\n"]);
            }
            Transform::Partial | Transform::PartialList => {
                let object = table::partial(&stored.object);
                self.line(&json!({"type": event, "object": object}));
            }
            Transform::Table => {
                let meta = json!({"resourceVersion": stored.revision.to_string()});
                let rows = std::iter::once(&stored.object);
                let mut table = table::whole(&self.kind, rows, meta, self.include);
                if self.columns_sent {
                    // Only the first event has the columns.
                    table["columnDefinitions"] = Value::Null;
                }
                self.columns_sent = true;
                self.line(&json!({"type": event, "object": table}));
            }
        }
    }

    fn send_bookmark(&mut self, initial_end: bool) {
        let mut meta = json!({"resourceVersion": self.follower.position().to_string()});
        if initial_end {
            meta["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = match self.transform {
            Transform::Table => json!({
                "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
                "columnDefinitions": null, "rows": [],
            }),
            Transform::Partial | Transform::PartialList => json!({
                "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
            }),
            _ => json!({
                "kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": meta,
            }),
        };
        self.line(&json!({"type": "BOOKMARK", "object": object}));
    }

    fn line(&mut self, value: &Value) {
        self.write(&[&value.to_string(), "\n"]);
    }

    fn write(&mut self, parts: &[&str]) {
        for part in parts {
            self.out.extend_from_slice(part.as_bytes());
        }
    }

    fn end_frame(&mut self) {
        if !self.out.is_empty() {
            self.frames
                .push_back(Bytes::from(std::mem::take(&mut self.out)));
        }
    }
}

#[cfg(test)]
mod tests;
