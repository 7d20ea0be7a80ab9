//! Watching: what there is, then what happens, as a stream of lines.
//!
//! A watch reads the resource's journal at its own pace. It shares the serialised objects with all
//! other watches, so a watcher costs a position in the journal and the frames on their way out.

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

use super::accept::{Form, Shape};
use super::answer;
use super::query::Params;
use super::read::Selection;
use super::table::{self, Include};
use crate::resources::Kind;
use crate::status::ApiError;
use crate::store::{Change, ChangeKind, Follower, Stored};
use crate::writer::Cluster;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// How many changes are turned into frames at a time.
const BATCH: usize = 64;

/// `GET` with `watch=true`.
pub(super) fn watch(
    cluster: &Arc<Cluster>,
    kind: &Arc<Kind>,
    namespace: Option<&str>,
    params: &Params,
    form: Form,
    stop: CancellationToken,
) -> Result<Response, ApiError> {
    let selection = Selection::of(kind, namespace, params)?;
    let asked = params.number::<u64>("resourceVersion")?.unwrap_or(0);
    let timeout = params
        .number::<u64>("timeoutSeconds")?
        .filter(|seconds| *seconds > 0)
        .map_or(DEFAULT_TIMEOUT, |s| Duration::from_secs(s.min(86_400)));
    let bookmarks = params.flag("allowWatchBookmarks");
    let streaming_list = params.flag("sendInitialEvents");
    if streaming_list && params.get("resourceVersionMatch") != Some("NotOlderThan") {
        return Err(ApiError::bad_request(
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ));
    }
    // A version of the future means the client knew another cluster: it has to list anew.
    let current = cluster.store.revision();
    if asked > current {
        return Err(ApiError::expired(asked, current));
    }
    let initial = streaming_list || (asked == 0 && params.get("sendInitialEvents").is_none());
    let (first, position) = if initial {
        let (all, revision) = cluster.store.list(&kind.storage, namespace);
        (all, revision)
    } else {
        (Vec::new(), if asked == 0 { current } else { asked })
    };
    let watch = Watch {
        follower: Follower::of(&cluster.store, &kind.storage, position),
        prefix: Bytes::from(kind.type_prefix()),
        kind: Arc::clone(kind),
        selection,
        shape: form.shape,
        include: form.include,
        columns_sent: false,
        initial: first.into(),
        end_initial: streaming_list && bookmarks,
        frames: VecDeque::new(),
        bookmarks,
        deadline: Instant::now() + timeout,
        next_bookmark: Instant::now() + BOOKMARK_EVERY,
        ended: false,
        stops: [stop, cluster.stop.clone()],
    };
    Ok(answer::bytes(
        StatusCode::OK,
        "application/json",
        Body::from_stream(watch.into_stream()),
    ))
}

/// The beginning of an event's line; the object's own bytes follow.
fn opening(event: &str) -> Bytes {
    Bytes::from_static(match event {
        "ADDED" => b"{\"type\":\"ADDED\",\"object\":",
        "DELETED" => b"{\"type\":\"DELETED\",\"object\":",
        _ => b"{\"type\":\"MODIFIED\",\"object\":",
    })
}

struct Watch {
    follower: Follower,
    kind: Arc<Kind>,
    prefix: Bytes,
    selection: Selection,
    shape: Shape,
    include: Include,
    columns_sent: bool,
    initial: VecDeque<Arc<Stored>>,
    end_initial: bool,
    frames: VecDeque<Bytes>,
    bookmarks: bool,
    deadline: Instant,
    next_bookmark: Instant,
    ended: bool,
    stops: [CancellationToken; 2],
}

impl Watch {
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
            if !self.fill() {
                self.wait().await;
            }
        }
    }

    /// Turns what is known into frames, without waiting. Says whether there was anything.
    fn fill(&mut self) -> bool {
        if !self.initial.is_empty() {
            for _ in 0..BATCH {
                let Some(stored) = self.initial.pop_front() else {
                    break;
                };
                if self.selection.matches(&stored) {
                    self.send("ADDED", &stored);
                }
            }
            return true;
        }
        if self.end_initial {
            self.end_initial = false;
            self.send_bookmark(true);
            return true;
        }
        match self.follower.take(BATCH) {
            Ok(changes) => {
                for change in &changes {
                    self.send_change(change);
                }
                !changes.is_empty()
            }
            Err(expired) => {
                let error = ApiError::expired(self.follower.position(), expired.oldest);
                self.line(&json!({"type": "ERROR", "object": error.to_value()}));
                self.ended = true;
                true
            }
        }
    }

    async fn wait(&mut self) {
        let bookmark_at = if self.bookmarks {
            self.next_bookmark.min(self.deadline)
        } else {
            self.deadline
        };
        let [stop, cluster_stop] = &self.stops;
        tokio::select! {
            () = stop.cancelled() => self.ended = true,
            () = cluster_stop.cancelled() => self.ended = true,
            () = self.follower.wait() => {}
            () = tokio::time::sleep_until(bookmark_at) => {
                self.ended = Instant::now() >= self.deadline;
                if self.bookmarks {
                    self.next_bookmark = Instant::now() + BOOKMARK_EVERY;
                    self.send_bookmark(false);
                }
            }
        }
    }

    fn send_change(&mut self, change: &Change) {
        let before = change
            .previous
            .as_ref()
            .is_some_and(|previous| self.selection.matches(previous));
        let now = change.kind != ChangeKind::Deleted && self.selection.matches(&change.object);
        match (before, now) {
            (false, true) => self.send("ADDED", &change.object),
            (true, true) => self.send("MODIFIED", &change.object),
            (true, false) if change.kind == ChangeKind::Deleted => {
                self.send("DELETED", &change.object);
            }
            (true, false) => {
                // It left the selection: shown as it last was inside, at the version it left.
                if let Some(previous) = &change.previous {
                    let left = Stored::new(previous.object.clone(), change.revision());
                    self.send("DELETED", &left);
                }
            }
            (false, false) => {}
        }
    }

    fn send(&mut self, event: &str, stored: &Stored) {
        match self.shape {
            Shape::Full | Shape::Aggregated => {
                self.frames.push_back(opening(event));
                self.frames.push_back(self.prefix.clone());
                self.frames
                    .push_back(answer::object_rest(&self.kind, stored));
                self.frames.push_back(Bytes::from_static(b"}\n"));
            }
            Shape::Partial | Shape::PartialList => {
                let object = table::partial(&stored.object);
                self.line(&json!({"type": event, "object": object}));
            }
            Shape::Table => {
                let meta = json!({"resourceVersion": stored.revision.to_string()});
                let rows = std::iter::once(&stored.object);
                let mut table = table::whole(&self.kind, rows, meta, self.include);
                if self.columns_sent {
                    // Columns are told once; a client remembers them.
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
        let object = match self.shape {
            Shape::Table => json!({
                "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
                "columnDefinitions": null, "rows": [],
            }),
            Shape::Partial | Shape::PartialList => json!({
                "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
            }),
            _ => json!({
                "kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": meta,
            }),
        };
        self.line(&json!({"type": "BOOKMARK", "object": object}));
    }

    fn line(&mut self, value: &Value) {
        self.frames.push_back(Bytes::from(format!("{value}\n")));
    }
}
