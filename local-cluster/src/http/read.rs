//! `get` and `list`.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::accept::{Encoding, Transform};
use super::call::Call;
use super::continuation::Continuation;
use super::list_options::{ListOptions, VersionMatch, revision};
use super::response;
use super::table;
use crate::resources::Kind;
use crate::selector::{FieldSelector, LabelSelector};
use crate::status::ApiError;
use crate::store::{Found, Range, Scan, Store, Stored};
use crate::writer::Written;

/// The objects of a kind that a request selects.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// `None` selects all namespaces.
    pub(super) namespace: Option<String>,
    pub(super) labels: LabelSelector,
    pub(super) fields: FieldSelector,
}

impl Selection {
    pub(super) fn of(call: &Call<'_>) -> Result<Self, ApiError> {
        let given = |parameter| call.params.get(parameter).unwrap_or_default();
        let labels = LabelSelector::parse(given("labelSelector")).map_err(ApiError::bad_request)?;
        let mut fields = given("fieldSelector").to_owned();
        if let Some(name) = &call.path.name {
            fields = format!("metadata.name={name}");
        }
        let fields = FieldSelector::parse(&fields, call.kind);
        Ok(Self {
            namespace: call.namespace().map(str::to_owned),
            labels,
            fields: fields.map_err(ApiError::bad_request)?,
        })
    }

    /// True without a selector besides the namespace.
    pub(super) fn is_whole(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The namespace that contains all selected objects, if there is one.
    pub(super) fn scope(&self) -> Option<&str> {
        let named = || self.fields.only("metadata.namespace");
        self.namespace
            .as_deref()
            .or_else(named)
            .filter(|ns| !ns.is_empty())
    }

    /// The smallest range of the store that contains all selected objects.
    pub(super) fn range(&self, kind: &Kind) -> Range<'_> {
        let namespace = self.scope();
        let is_placed = namespace.is_some() || !kind.namespaced;
        Range {
            namespace,
            name: self.fields.only("metadata.name").filter(|_| is_placed),
            from: "",
        }
    }

    /// The key of an object, relative to the scope.
    pub(super) fn key(&self, stored: &Stored) -> String {
        if stored.namespace.is_empty() || self.scope().is_some() {
            return stored.name.clone();
        }
        format!("{}/{}", stored.namespace, stored.name)
    }

    pub(super) fn matches(&self, stored: &Stored) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|ns| *ns == stored.namespace)
            && self.labels.matches(&stored.object)
            && self.fields.matches(&stored.object)
    }
}

/// The longest wait for a revision that the store has not reached.
const REVISION_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits for a revision. On a cluster another API server may be ahead; here the version usually
/// comes from another cluster, so the wait is limited.
pub(super) async fn reach(store: &Store, revision: u64) -> Result<(), ApiError> {
    if revision <= store.revision() {
        return Ok(());
    }
    let reached = tokio::time::timeout(REVISION_TIMEOUT, store.reached(revision)).await;
    reached.map_err(|_| ApiError::version_too_large(revision, store.revision()))
}

/// Waits for the revision that a request names.
pub(super) async fn reach_given(call: &Call<'_>) -> Result<(), ApiError> {
    let version = call.params.get("resourceVersion").unwrap_or_default();
    let revision = revision(version).map_err(ApiError::unexplained)?;
    reach(&call.cluster.store, revision).await
}

pub(super) async fn get(call: &Call<'_>) -> Result<Response, ApiError> {
    reach_given(call).await?;
    let found = Written::Stored(call.stored()?);
    Ok(call.respond(StatusCode::OK, &found, &[]))
}

#[derive(Debug)]
pub(super) struct Page {
    pub(super) items: Vec<Arc<Stored>>,
    pub(super) revision: u64,
    next: Option<Continuation>,
    remaining: Option<usize>,
}

pub(super) async fn list(call: &Call<'_>) -> Result<Response, ApiError> {
    let page = page(call).await?;
    Ok(render(call, &page))
}

/// Reads the page that a request asks for.
pub(super) async fn page(call: &Call<'_>) -> Result<Page, ApiError> {
    let (kind, store) = (call.kind, &call.cluster.store);
    let options = ListOptions::of_list(call.params)?;
    let selection = &Selection::of(call)?;
    let plan = options.list()?;
    let (needed, at) = match plan.when {
        VersionMatch::NotOlderThan(revision) => (revision, None),
        VersionMatch::Exact(revision) => (revision, Some(revision)),
    };
    reach(store, needed).await?;
    let range = match &plan.from {
        None => selection.range(kind),
        // A continued list is never one of a single name.
        Some(from) => Range {
            namespace: selection.scope(),
            name: None,
            from,
        },
    };
    let scan = Scan {
        resource: &kind.storage,
        range,
        at,
        take: plan.limit.filter(|_| selection.is_whole()),
        counts: plan.limit.is_some(),
    };
    let found = store.find(&scan).map_err(|_| match &plan.from {
        None => ApiError::list_expired(),
        Some(start) => {
            let anytime = Continuation {
                revision: None,
                start: start.clone(),
            };
            ApiError::continue_expired(anytime.encode())
        }
    })?;
    Ok(select(found, selection, plan.limit))
}

/// The first selected objects, as many as the limit allows.
fn select(found: Found, selection: &Selection, limit: Option<usize>) -> Page {
    let limit = limit.unwrap_or(usize::MAX);
    let mut items = Vec::new();
    let mut seen = 0;
    for stored in found.objects {
        seen += 1;
        if selection.matches(&stored) {
            items.push(stored);
        }
        // Whether later objects match is not checked: the next page may be empty.
        if items.len() >= limit {
            break;
        }
    }
    let left = found.total - seen;
    let next = items.last().filter(|_| left > 0 && items.len() >= limit);
    let next = next.map(|last| Continuation::behind(&selection.key(last), found.revision));
    Page {
        // With a selector the remaining number is unknown.
        remaining: next.as_ref().filter(|_| selection.is_whole()).map(|_| left),
        items,
        revision: found.revision,
        next,
    }
}

/// Renders a page in the negotiated format.
pub(super) fn render(call: &Call<'_>, page: &Page) -> Response {
    let mut meta = json!({"resourceVersion": page.revision.to_string()});
    match &page.next {
        Some(next) => meta["continue"] = json!(next.encode()),
        // Lists of custom resources always have the field.
        None if call.kind.is_custom() && call.form.transform == Transform::None => {
            meta["continue"] = json!("");
        }
        None => {}
    }
    if let Some(remaining) = page.remaining {
        meta["remainingItemCount"] = json!(remaining);
    }
    render_items(call, &page.items, meta)
}

fn render_items(call: &Call<'_>, items: &[Arc<Stored>], meta: Value) -> Response {
    let (kind, form) = (call.kind, call.form);
    let objects = items.iter().map(|stored| &stored.object);
    match (form.transform, form.encoding) {
        (Transform::Table, encoding) => {
            let mut table = table::whole(kind, objects, meta, form.include);
            // So it does for a kind without columns of its own.
            if items.is_empty() && kind.group == "apiextensions.k8s.io" {
                table["rows"] = Value::Null;
            }
            response::value(StatusCode::OK, encoding, &table)
        }
        (Transform::Partial, encoding) => response::error(encoding, &form.misfit(kind, true)),
        (Transform::PartialList, encoding) => {
            let items: Vec<Value> = objects.map(table::partial).collect();
            // A cluster encodes no items as null here.
            let items = (!items.is_empty()).then_some(items);
            let list = json!({
                "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                "metadata": meta, "items": items,
            });
            response::value(StatusCode::OK, encoding, &list)
        }
        (_, Encoding::Json) => {
            response::bytes(StatusCode::OK, "application/json", full(kind, items, &meta))
        }
        (_, Encoding::Yaml) => {
            let bytes = full(kind, items, &meta);
            let list = serde_json::from_slice(&bytes).unwrap_or_default();
            response::value(StatusCode::OK, Encoding::Yaml, &list)
        }
    }
}

/// An encoded list, put together from the encoded objects in the store.
fn full(kind: &Kind, items: &[Arc<Stored>], meta: &Value) -> Vec<u8> {
    // Only items of custom resources contain their type.
    let prefix = if kind.is_custom() {
        kind.type_prefix()
    } else {
        "{".to_owned()
    };
    let opening = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{meta},\"items\":[",
        Value::from(kind.list_kind.as_str()),
        Value::from(kind.api_version()),
    );
    let length = |stored: &Arc<Stored>| prefix.len() + stored.size() + 1;
    let items_length: usize = items.iter().map(length).sum();
    let mut out = Vec::with_capacity(opening.len() + items_length + 2);
    out.extend_from_slice(opening.as_bytes());
    for (index, stored) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        response::write_object(&mut out, &prefix, kind, stored);
    }
    out.extend_from_slice(b"]}");
    out
}
