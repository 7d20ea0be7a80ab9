//! From a request to the handler that answers it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use futures::FutureExt as _;
use http::header::USER_AGENT;
use http::request::Parts;
use http::{Method, StatusCode};
use tokio_util::sync::CancellationToken;

use super::accept::{Encoding, Endpoint, Shape, negotiate};
use super::path::{Path, ResourcePath, parse};
use super::query::Params;
use super::subresource::Subresource;
use super::table::Include;
use super::write::Change;
use super::{
    answer, body, containers, discovery, health, log, openapi, pods, read, reviews, scale, watch,
    write,
};
use crate::faults::{Asked, Verb};
use crate::resources::Kind;
use crate::rules::Part;
use crate::status::ApiError;
use crate::store::Resource;
use crate::writer::Cluster;

/// Put into a request's extensions by a server, to end its watches when it stops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(pub(crate) CancellationToken);

/// The API as a router. Every path goes through one handler: which resources there are is data.
pub(crate) fn router(cluster: Arc<Cluster>) -> Router {
    Router::new().fallback(handle).with_state(cluster)
}

/// What those are told who do not say who they are.
pub(crate) fn unauthorized(request: &Request) -> Response {
    let response = answer::error(Encoding::Json, &ApiError::unauthorized());
    match log::begin(request) {
        Some(entry) => entry.end(response),
        None => response,
    }
}

async fn handle(State(cluster): State<Arc<Cluster>>, request: Request) -> Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let encoding =
        negotiate(request.headers(), Endpoint::Plain).map_or(Encoding::Json, |f| f.encoding);
    let entry = log::begin(&request);
    // No request is known to cause a panic. Should one, it costs that answer and not a client's
    // connection, which in process is the whole client.
    let answered = AssertUnwindSafe(answer_to(&cluster, request)).catch_unwind();
    let response = match answered.await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => answer::error(encoding, &error),
        Err(_) => {
            tracing::error!(%method, path, "a request caused a panic");
            answer::error(encoding, &ApiError::internal())
        }
    };
    match entry {
        Some(entry) => entry.end(response),
        None => response,
    }
}

async fn answer_to(cluster: &Arc<Cluster>, request: Request) -> Result<Response, ApiError> {
    let path = parse(request.uri().path());
    let headers = request.headers();
    let reads = *request.method() == Method::GET;
    let plain = |path: Path| match path {
        Path::Unknown => Ok(answer::page_not_found()),
        _ if !reads => Err(ApiError::method_not_allowed()),
        Path::Health { endpoint, check } => {
            let params = Params::of(request.uri())?;
            Ok(health::answer(&endpoint, &check, &params))
        }
        Path::Root => Ok(openapi::index(&cluster.registry)),
        Path::Version => Ok(answer::json(StatusCode::OK, &discovery::version())),
        Path::CoreVersions => Ok(discovery::core_versions(
            &cluster.registry,
            headers,
            negotiate(headers, Endpoint::Groups)?,
        )),
        Path::Groups => Ok(discovery::groups(
            &cluster.registry,
            headers,
            negotiate(headers, Endpoint::Groups)?,
        )),
        Path::Group(group) => Ok(discovery::group(
            &cluster.registry,
            &group,
            negotiate(headers, Endpoint::Plain)?,
        )),
        Path::GroupVersion { group, version } => Ok(discovery::group_version(
            &cluster.registry,
            &group,
            &version,
            negotiate(headers, Endpoint::Plain)?,
        )),
        Path::OpenapiV2 => Ok(openapi::v2(headers)),
        Path::OpenapiV3 => Ok(openapi::v3(&cluster.registry, headers)),
        Path::OpenapiV3Group(of) => {
            let params = Params::of(request.uri())?;
            Ok(openapi::v3_group(&cluster.registry, headers, &of, &params))
        }
        Path::Resource(_) => Ok(answer::page_not_found()),
    };
    let Path::Resource(resource) = path else {
        return plain(path);
    };
    if resource.is_bindings() {
        return bindings(cluster, &resource, request).await;
    }
    if let Some(kind) = reviews::find(&cluster.registry, &resource) {
        return reviews::answer(cluster, &kind, &resource, request).await;
    }
    match find(cluster, &resource) {
        Some(kind) => resource_request(cluster, &kind, &resource, request).await,
        None => Ok(answer::page_not_found()),
    }
}

/// Bindings are only ever created, and then they are gone.
async fn bindings(
    cluster: &Arc<Cluster>,
    path: &ResourcePath,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, request_body) = request.into_parts();
    let (Some(pods), Some(namespace)) = (
        cluster.registry.builtin("", "pods"),
        path.namespace.as_deref(),
    ) else {
        return Ok(answer::page_not_found());
    };
    if parts.method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    count(cluster, &parts, ("create", "bindings".to_owned(), ""));
    let params = Params::of(&parts.uri)?;
    let received = body::read(request_body, parts.extensions.get()).await?;
    let change = Change {
        params: &params,
        headers: &parts.headers,
        body: received.bytes,
        form: negotiate(&parts.headers, Endpoint::Objects)?,
    };
    pods::bind(cluster, &pods, (namespace, None), &change)
}

fn agent(parts: &Parts) -> &str {
    let agent = parts.headers.get(USER_AGENT);
    agent
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

fn count(cluster: &Cluster, parts: &Parts, (verb, resource, part): (&'static str, String, &str)) {
    cluster.counters.add(agent(parts), verb, resource, part);
}

fn find(cluster: &Cluster, path: &ResourcePath) -> Option<Arc<Kind>> {
    let kind = cluster
        .registry
        .find(&path.group, &path.version, &path.plural)?;
    // A namespaced object has no address outside a namespace; but all of a kind can be listed.
    let placed = match (kind.namespaced, &path.namespace) {
        (true, None) => path.name.is_none(),
        (false, Some(_)) => false,
        _ => true,
    };
    let part_exists = match path.subresource.as_deref() {
        None => true,
        Some(name) => Subresource::of(&kind, name).is_some(),
    };
    (placed && part_exists).then_some(kind)
}

async fn resource_request(
    cluster: &Arc<Cluster>,
    kind: &Arc<Kind>,
    path: &ResourcePath,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, request_body) = request.into_parts();
    let params = Params::of(&parts.uri)?;
    let watches = params.flag("watch");
    let named = path.name.is_some();
    let verb = match (&parts.method, named) {
        (&Method::GET, true) => Verb::Get,
        (&Method::GET, false) if watches => Verb::Watch,
        (&Method::GET, false) => Verb::List,
        (&Method::POST, _) => Verb::Create,
        (&Method::PUT, true) => Verb::Update,
        (&Method::PATCH, true) => Verb::Patch,
        (&Method::DELETE, true) => Verb::Delete,
        (&Method::DELETE, false) => Verb::DeleteCollection,
        _ => return Err(ApiError::method_not_allowed()),
    };
    let resource = Resource::new(&kind.group, &kind.plural).to_string();
    let part = path.subresource.as_deref().unwrap_or_default();
    count(cluster, &parts, (verb.as_str(), resource, part));
    let asked = Asked {
        verb,
        group: &kind.group,
        plural: &kind.plural,
        subresource: part,
        namespace: path.namespace.as_deref().unwrap_or_default(),
        name: path.name.as_deref().unwrap_or_default(),
        user_agent: agent(&parts),
    };
    let asking = carry_out(cluster, kind, path, verb, &params, &parts, request_body);
    cluster.faults.around(&asked, asking).await
}

async fn carry_out(
    cluster: &Arc<Cluster>,
    kind: &Arc<Kind>,
    path: &ResourcePath,
    verb: Verb,
    params: &Params,
    parts: &Parts,
    request_body: Body,
) -> Result<Response, ApiError> {
    let subresource = Subresource::of(kind, path.subresource.as_deref().unwrap_or_default());
    let mut form = negotiate(&parts.headers, Endpoint::Objects)?.fitting(kind, verb.as_str())?;
    if form.shape == Shape::Table {
        form.include = Include::of(params.get("includeObject"))?;
    }
    let namespace = path.namespace.as_deref();
    let address = (
        namespace.unwrap_or_default(),
        path.name.as_deref().unwrap_or_default(),
    );
    let scale = match subresource {
        Some(Subresource::Scale) => kind.scale(),
        _ => None,
    };
    if kind.is_read_only() && !matches!(verb, Verb::Get | Verb::List) {
        return Err(ApiError::method_not_allowed());
    }
    match verb {
        _ if subresource.is_some_and(|part| !part.verbs().contains(&verb.as_str())) => {
            return Err(ApiError::method_not_allowed());
        }
        _ if subresource.is_some_and(Subresource::needs_containers) => {
            return containers::answer(cluster, kind, address, subresource);
        }
        Verb::Get => {
            return match &scale {
                Some(scale) => scale::get(cluster, (kind, scale), address, form),
                None => read::get(cluster, kind, address, params, form).await,
            };
        }
        Verb::List => return read::list(cluster, kind, namespace, params, form).await,
        Verb::Watch => {
            let stop = parts.extensions.get::<Stop>().cloned().unwrap_or_default();
            return watch::watch(cluster, kind, namespace, params, form, stop.0).await;
        }
        _ => {}
    }
    // What is taken of the server's memory is given back when the request is answered.
    let received = body::read(request_body, parts.extensions.get()).await?;
    let change = Change {
        params,
        headers: &parts.headers,
        body: received.bytes,
        form,
    };
    let part = match subresource {
        Some(Subresource::Binding) => {
            return pods::bind(cluster, kind, (address.0, Some(address.1)), &change);
        }
        Some(Subresource::Eviction) => return pods::evict(cluster, kind, address, &change),
        Some(Subresource::Scale) => Part::Scale,
        Some(Subresource::Finalize) => Part::Finalize,
        // An approval is part of the status.
        Some(Subresource::Status | Subresource::Approval) => Part::Status,
        _ => Part::Main,
    };
    if let Some(scale) = &scale {
        let of = (&**kind, scale);
        return match verb {
            Verb::Update => scale::update(cluster, of, address, &change).await,
            _ => scale::patch(cluster, of, address, &change).await,
        };
    }
    match (verb, part) {
        (Verb::Create, Part::Main) if path.name.is_some() => {
            // Custom resources look at the body before they find the address wrong.
            if kind.is_custom() {
                body::decode(kind, change.headers, &change.body)?;
            }
            Err(ApiError::method_not_allowed())
        }
        (Verb::Create, Part::Main) if kind.namespaced && namespace.is_none() => {
            Err(ApiError::method_not_allowed())
        }
        (Verb::Create, Part::Main) => write::create(cluster, kind, address.0, &change).await,
        (Verb::Update, part) => write::update(cluster, kind, address, part, &change).await,
        (Verb::Patch, part) => write::patch(cluster, kind, address, part, &change).await,
        (Verb::Delete, Part::Main) => write::delete(cluster, kind, address, &change).await,
        (Verb::DeleteCollection, Part::Main) if !kind.is("", "namespaces") => {
            write::delete_collection(cluster, kind, namespace, &change).await
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}
