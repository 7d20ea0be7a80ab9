//! `/_mock/requests`: the journal as a list, one by one, as a stream, as a file, and waiting for calls.

use super::http::{self, EndpointError};
use crate::cloud::Cloud;
use crate::journal::{CallFollower, CallQuery, JournalEntry};
use crate::strict::with_suggestion;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use lbcf_serving::duration;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::timeout;

/// The time that `wait` waits without `timeout`, and its limit.
const WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The last webhook calls, oldest first.
pub(super) async fn list(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let query = query(&request)?;
    Ok(listed(&cloud, &query, cloud.call_log().entries(&query)))
}

fn listed(cloud: &Cloud, query: &CallQuery, entries: Vec<JournalEntry>) -> Response {
    let entries = entries.into_iter().map(|entry| shown(query, entry));
    let requests = Vec::from_iter(entries);
    let body = json!({ "requests": requests, "counts": cloud.calls() });
    http::shown(&body)
}

fn shown(query: &CallQuery, entry: JournalEntry) -> JournalEntry {
    if query.bodies {
        entry
    } else {
        entry.without_bodies()
    }
}

/// One call with its bodies.
pub(super) async fn one(
    State(cloud): State<Cloud>,
    Path(sequence): Path<String>,
) -> Result<Response, EndpointError> {
    let entries = cloud.call_log().entries(&CallQuery::default());
    let found = entries
        .into_iter()
        .find(|entry| Ok(entry.sequence) == sequence.parse());
    match found {
        Some(entry) => Ok(http::shown(&entry)),
        None => Err(EndpointError::not_found(format!(
            "{sequence:?}: the journal has no call with this number"
        ))),
    }
}

/// Waits until the journal has as many calls that fit.
pub(super) async fn wait(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let query = query(&request)?;
    let wanted = query.count.unwrap_or(1);
    let limit = query.timeout.as_deref().map_or(Ok(WAIT), limit)?;
    let mut last = cloud.call_log().watch();
    let enough = async {
        loop {
            last.mark_unchanged();
            let entries = cloud.call_log().entries(&query);
            if entries.len() >= wanted {
                return entries;
            }
            // The sender belongs to the cloud, of which this has a handle.
            let _ = last.changed().await;
        }
    };
    match timeout(limit, enough).await {
        Ok(entries) => Ok(listed(&cloud, &query, entries)),
        Err(_) => {
            let seen = cloud.call_log().entries(&query).len();
            let limit = duration::display(limit);
            let message = format!("{seen} of {wanted} calls came within {limit}");
            Err(EndpointError::new(StatusCode::GATEWAY_TIMEOUT, message))
        }
    }
}

/// Calls as they end, as server-sent events with the calls' numbers as ids.
pub(super) async fn follow(
    State(cloud): State<Cloud>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, EndpointError> {
    let mut query = query(&request)?;
    // A browser sends it when it connects again.
    let seen = headers.get("last-event-id");
    if let Some(seen) = seen.and_then(|id| id.to_str().ok()?.parse().ok()) {
        query.since = Some(seen);
    }
    let follower = CallFollower::new(cloud.call_log(), query.clone());
    let events = stream::unfold((follower, query), |(mut follower, query)| async move {
        let entry = shown(&query, follower.next().await);
        let event = Event::default()
            .id(entry.sequence.to_string())
            .event("call");
        let event = event.data(serde_json::to_string(&entry).unwrap_or_default());
        Some((Ok::<_, Infallible>(event), (follower, query)))
    });
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    Ok(events.into_response())
}

/// Everything that `lbcf conformance replay` needs to send the calls again.
pub(super) async fn export(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let calls = cloud.call_log().entries(&query(&request)?);
    let journal = json!({"apiVersion": "lbcf.dev/v1", "kind": "CallJournal", "calls": calls});
    Ok(http::shown(&journal))
}

fn limit(text: &str) -> Result<Duration, EndpointError> {
    match duration::parse(text) {
        Ok(limit) if limit > LONGEST_WAIT => Err(EndpointError::bad(format!(
            "timeout: {text:?}: longer than 10m"
        ))),
        read => read.map_err(|problem| EndpointError::bad(format!("timeout: {problem}"))),
    }
}

fn query(request: &Request) -> Result<CallQuery, EndpointError> {
    match Query::try_from_uri(request.uri()) {
        Ok(Query(query)) => Ok(query),
        Err(rejection) => {
            let message = with_suggestion(&rejection.body_text());
            Err(EndpointError::new(rejection.status(), message))
        }
    }
}
