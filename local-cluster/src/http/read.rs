//! Reading one object or many.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::accept::{Encoding, Form, Shape};
use super::answer;
use super::continuation::Continuation;
use super::list_options::{ListOptions, When, revision};
use super::query::Params;
use super::table;
use crate::object::Object;
use crate::resources::Kind;
use crate::selector::{FieldSelector, LabelSelector};
use crate::status::ApiError;
use crate::store::{Found, Range, Scan, Store, Stored};
use crate::writer::{Cluster, Left};

/// Which objects of a kind are meant.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// One namespace, or all.
    pub(super) namespace: Option<String>,
    pub(super) labels: LabelSelector,
    pub(super) fields: FieldSelector,
}

impl Selection {
    /// Reads the selectors of a request.
    pub(super) fn of(
        kind: &Kind,
        namespace: Option<&str>,
        params: &Params,
    ) -> Result<Self, ApiError> {
        let labels = LabelSelector::parse(params.get("labelSelector").unwrap_or_default())
            .map_err(|why| ApiError::bad_request(format!("unable to parse requirement: {why}")))?;
        let fields = FieldSelector::parse(params.get("fieldSelector").unwrap_or_default(), kind)
            .map_err(ApiError::bad_request)?;
        Ok(Self {
            namespace: namespace.map(str::to_owned),
            labels,
            fields,
        })
    }

    /// Whether nothing but the namespace selects.
    pub(super) fn is_whole(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The namespace in which everything is that can be meant, if there is one.
    pub(super) fn scope(&self) -> Option<&str> {
        let named = || self.fields.only("metadata.namespace");
        self.namespace
            .as_deref()
            .or_else(named)
            .filter(|ns| !ns.is_empty())
    }

    /// The least part of the store that has everything that is meant.
    pub(super) fn range(&self, kind: &Kind) -> Range<'_> {
        let namespace = self.scope();
        let is_placed = namespace.is_some() || !kind.namespaced;
        Range {
            namespace,
            name: self.fields.only("metadata.name").filter(|_| is_placed),
            from: "",
        }
    }

    /// The key of an object within the scope.
    pub(super) fn key(&self, stored: &Stored) -> String {
        if stored.namespace.is_empty() || self.scope().is_some() {
            return stored.name.clone();
        }
        format!("{}/{}", stored.namespace, stored.name)
    }

    /// Whether an object is meant.
    pub(super) fn matches(&self, stored: &Stored) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|ns| *ns == stored.namespace)
            && self.labels.matches(&stored.object)
            && self.fields.matches(&stored.object)
    }
}

/// How long a request waits for a version that there is not yet.
const PATIENCE: Duration = Duration::from_secs(3);

/// Waits until a version that a client knows of was reached: another server of the same cluster may
/// have been faster. It is usually not of this cluster at all, so this has an end.
pub(super) async fn reach(store: &Store, revision: u64) -> Result<(), ApiError> {
    if revision <= store.revision() {
        return Ok(());
    }
    let reached = tokio::time::timeout(PATIENCE, store.reached(revision)).await;
    reached.map_err(|_| ApiError::version_too_large(revision, store.revision()))
}

/// `GET` of one object.
pub(super) async fn get(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    params: &Params,
    form: Form,
) -> Result<Response, ApiError> {
    let version = params.get("resourceVersion").unwrap_or_default();
    let revision = revision(version).map_err(ApiError::unexplained)?;
    reach(&cluster.store, revision).await?;
    let stored = cluster.read(kind, namespace, name)?;
    Ok(answer::object(
        StatusCode::OK,
        form,
        kind,
        &Left::Stored(stored),
    ))
}

/// One page of a list.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) items: Vec<Arc<Stored>>,
    pub(super) revision: u64,
    next: Option<Continuation>,
    remaining: Option<usize>,
}

/// `GET` of many objects.
pub(super) async fn list(
    cluster: &Cluster,
    kind: &Kind,
    namespace: Option<&str>,
    params: &Params,
    form: Form,
) -> Result<Response, ApiError> {
    let options = ListOptions::of_list(params)?;
    let selection = Selection::of(kind, namespace, params)?;
    let page = page(&cluster.store, kind, &selection, &options).await?;
    Ok(render(kind, &page, form))
}

/// Finds the page that a request asks for.
pub(super) async fn page(
    store: &Store,
    kind: &Kind,
    selection: &Selection,
    options: &ListOptions,
) -> Result<Page, ApiError> {
    let plan = options.list()?;
    let (needed, at) = match plan.when {
        When::Since(revision) => (revision, None),
        When::At(revision) => (revision, Some(revision)),
    };
    reach(store, needed).await?;
    let range = match &plan.from {
        None => selection.range(kind),
        // A page that goes on is not of one object.
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

/// The first of what was found that is selected, as many as there may be on a page.
fn select(found: Found, selection: &Selection, limit: Option<usize>) -> Page {
    let limit = limit.unwrap_or(usize::MAX);
    let mut items = Vec::new();
    let mut seen = 0;
    for stored in found.objects {
        seen += 1;
        if selection.matches(&stored) {
            items.push(stored);
        }
        // Whether any of the others is selected is not looked at: the next page may be empty.
        if items.len() >= limit {
            break;
        }
    }
    let left = found.total - seen;
    let next = items.last().filter(|_| left > 0 && items.len() >= limit);
    let next = next.map(|last| Continuation::behind(&selection.key(last), found.revision));
    Page {
        // Of a selection nobody knows how many are left.
        remaining: next.as_ref().filter(|_| selection.is_whole()).map(|_| left),
        items,
        revision: found.revision,
        next,
    }
}

/// A list as the client wants it.
pub(super) fn render(kind: &Kind, page: &Page, form: Form) -> Response {
    let mut meta = Object::new();
    meta.insert(
        "resourceVersion".to_owned(),
        Value::from(page.revision.to_string()),
    );
    match &page.next {
        Some(next) => {
            meta.insert("continue".to_owned(), Value::from(next.encode()));
        }
        // Lists of custom resources say that they end.
        None if kind.is_custom() && form.shape == Shape::Full => {
            meta.insert("continue".to_owned(), Value::from(""));
        }
        None => {}
    }
    if let Some(remaining) = page.remaining {
        meta.insert("remainingItemCount".to_owned(), Value::from(remaining));
    }
    render_items(kind, &page.items, Value::Object(meta), form)
}

/// Objects as a list with this metadata.
pub(super) fn render_items(
    kind: &Kind,
    items: &[Arc<Stored>],
    meta: Value,
    form: Form,
) -> Response {
    let objects = items.iter().map(|stored| &stored.object);
    match (form.shape, form.encoding) {
        (Shape::Table, encoding) => {
            let table = table::whole(kind, objects, meta, form.include);
            answer::value(StatusCode::OK, encoding, &table)
        }
        (Shape::Partial | Shape::PartialList, encoding) => {
            let items: Vec<Value> = objects.map(table::partial).collect();
            let list = json!({
                "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                "metadata": meta, "items": items,
            });
            answer::value(StatusCode::OK, encoding, &list)
        }
        (_, Encoding::Json) => {
            answer::bytes(StatusCode::OK, "application/json", full(kind, items, &meta))
        }
        (_, Encoding::Yaml) => {
            let bytes = full(kind, items, &meta);
            let list = serde_json::from_slice(&bytes).unwrap_or_default();
            answer::value(StatusCode::OK, Encoding::Yaml, &list)
        }
    }
}

/// A whole list; the items' bytes are those that everybody shares.
fn full(kind: &Kind, items: &[Arc<Stored>], meta: &Value) -> Vec<u8> {
    // Only custom resources repeat their type in each item.
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
        answer::write_object(&mut out, &prefix, kind, stored);
    }
    out.extend_from_slice(b"]}");
    out
}
