//! Reading one object or many.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::accept::{Encoding, Form, Shape};
use super::answer;
use super::continuation::Continuation;
use super::query::Params;
use super::table;
use crate::object::Object;
use crate::resources::Kind;
use crate::selector::{FieldSelector, LabelSelector};
use crate::status::ApiError;
use crate::store::{Store, Stored};
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

    /// Whether an object is meant.
    pub(super) fn matches(&self, stored: &Stored) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|ns| *ns == stored.namespace)
            && self.labels.matches(&stored.object)
            && self.fields.matches(&stored.object)
    }
}

/// `GET` of one object.
pub(super) fn get(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    form: Form,
) -> Result<Response, ApiError> {
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
pub(super) fn list(
    cluster: &Cluster,
    kind: &Kind,
    namespace: Option<&str>,
    params: &Params,
    form: Form,
) -> Result<Response, ApiError> {
    let selection = Selection::of(kind, namespace, params)?;
    let page = page(&cluster.store, kind, &selection, params)?;
    Ok(render(kind, &page, form))
}

/// Finds the page that a request asks for.
pub(super) fn page(
    store: &Store,
    kind: &Kind,
    selection: &Selection,
    params: &Params,
) -> Result<Page, ApiError> {
    let limit = params.number::<usize>("limit")?.filter(|limit| *limit > 0);
    let asked = params.number::<u64>("resourceVersion")?.unwrap_or(0);
    let namespace = selection.namespace.as_deref();
    let exact = params.get("resourceVersionMatch") == Some("Exact");
    if exact && asked == 0 {
        return Err(ApiError::bad_request(
            "resourceVersionMatch: Forbidden: resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"",
        ));
    }
    let continued = params
        .get("continue")
        .map(Continuation::decode)
        .transpose()?;
    let as_of = match &continued {
        Some(continued) => Some(continued.revision),
        None => exact.then_some(asked),
    };
    let (all, revision) = match as_of {
        Some(revision) => {
            let current = store.revision();
            if revision > current {
                return Err(match continued {
                    // A token of another cluster, or made up.
                    Some(_) => ApiError::continue_expired(),
                    None => ApiError::version_too_large(revision, current),
                });
            }
            let all = store
                .list_at(&kind.storage, namespace, revision)
                .map_err(|expired| match continued {
                    Some(_) => ApiError::continue_expired(),
                    None => ApiError::expired(revision, expired.oldest),
                })?;
            (all, revision)
        }
        None => {
            let (all, revision) = store.list(&kind.storage, namespace);
            if asked > revision {
                return Err(ApiError::version_too_large(asked, revision));
            }
            (all, revision)
        }
    };
    let after = continued.map(|c| c.after);
    let mut items: Vec<Arc<Stored>> = all
        .into_iter()
        .filter(|o| {
            after
                .as_ref()
                .is_none_or(|(ns, name)| (&o.namespace, &o.name) > (ns, name))
        })
        .filter(|o| selection.matches(o))
        .collect();
    let rest = limit.map_or(0, |limit| items.len().saturating_sub(limit));
    items.truncate(items.len() - rest);
    let next = items.last().filter(|_| rest > 0).map(|last| Continuation {
        revision,
        after: (last.namespace.clone(), last.name.clone()),
    });
    Ok(Page {
        items,
        revision,
        next,
        // How many are left is only told where counting is free on a cluster.
        remaining: (rest > 0 && selection.is_whole()).then_some(rest),
    })
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
    let mut out = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{meta},\"items\":[",
        Value::from(kind.list_kind.as_str()),
        Value::from(kind.api_version()),
    )
    .into_bytes();
    for (index, stored) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        answer::write_object(&mut out, &prefix, kind, stored);
    }
    out.extend_from_slice(b"]}");
    out
}
