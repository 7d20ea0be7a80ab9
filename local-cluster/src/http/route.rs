//! Dispatch of requests to handlers.

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

use super::accept::{Encoding, EndpointRestrictions, Transform, negotiate};
use super::path::{RequestPath, ResourcePath, parse};
use super::query::Params;
use super::subresource::Subresource;
use super::table::Include;
use super::write::WriteRequest;
use super::{
    body, containers, discovery, eviction, health, log, openapi, read, response, reviews, scale,
    watch, write,
};
use crate::faults::{RequestInfo, Verb};
use crate::resources::Kind;
use crate::rules::Part;
use crate::status::ApiError;
use crate::store::Resource;
use crate::writer::Cluster;

/// A request extension by which a server ends its watches at shutdown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(pub(crate) CancellationToken);

/// The API as a router. All paths share one handler, because resources are data.
pub(crate) fn router(cluster: Arc<Cluster>) -> Router {
    Router::new().fallback(handle).with_state(cluster)
}

/// The response to a request without a valid token.
pub(crate) fn unauthorized(request: &Request) -> Response {
    let response = response::error(Encoding::Json, &ApiError::unauthorized());
    match log::begin(request) {
        Some(entry) => entry.end(response),
        None => response,
    }
}

async fn handle(State(cluster): State<Arc<Cluster>>, request: Request) -> Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let encoding = negotiate(request.headers(), EndpointRestrictions::Plain)
        .map_or(Encoding::Json, |f| f.encoding);
    let entry = log::begin(&request);
    // No request is known to panic. A panic costs one response and not the connection, which in
    // process is the whole client.
    let served = AssertUnwindSafe(serve(&cluster, request)).catch_unwind();
    let response = match served.await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => response::error(encoding, &error),
        Err(_) => {
            tracing::error!(%method, path, "a request caused a panic");
            response::error(encoding, &ApiError::internal())
        }
    };
    match entry {
        Some(entry) => entry.end(response),
        None => response,
    }
}

async fn serve(cluster: &Arc<Cluster>, request: Request) -> Result<Response, ApiError> {
    let path = parse(request.uri().path());
    let headers = request.headers();
    let reads = *request.method() == Method::GET;
    let plain = |path: RequestPath| match path {
        RequestPath::Unknown => Ok(response::page_not_found()),
        _ if !reads => Err(ApiError::method_not_allowed()),
        RequestPath::Health { endpoint, check } => {
            let params = Params::of(request.uri())?;
            Ok(health::respond(&endpoint, &check, &params))
        }
        RequestPath::Root => Ok(openapi::index(&cluster.registry)),
        RequestPath::Version => Ok(response::json(StatusCode::OK, &discovery::version())),
        RequestPath::CoreVersions => Ok(discovery::core_versions(
            &cluster.registry,
            headers,
            negotiate(headers, EndpointRestrictions::Groups)?,
        )),
        RequestPath::Groups => Ok(discovery::groups(
            &cluster.registry,
            headers,
            negotiate(headers, EndpointRestrictions::Groups)?,
        )),
        RequestPath::Group(group) => Ok(discovery::group(
            &cluster.registry,
            &group,
            negotiate(headers, EndpointRestrictions::Plain)?,
        )),
        RequestPath::GroupVersion { group, version } => Ok(discovery::group_version(
            &cluster.registry,
            &group,
            &version,
            negotiate(headers, EndpointRestrictions::Plain)?,
        )),
        RequestPath::OpenapiV2 => Ok(openapi::v2(headers)),
        RequestPath::OpenapiV3 => Ok(openapi::v3(&cluster.registry, headers)),
        RequestPath::OpenapiV3Group(of) => {
            let params = Params::of(request.uri())?;
            Ok(openapi::v3_group(&cluster.registry, headers, &of, &params))
        }
        RequestPath::Resource(_) => Ok(response::page_not_found()),
    };
    let RequestPath::Resource(resource) = path else {
        return plain(path);
    };
    if let Some(kind) = reviews::find(&cluster.registry, &resource) {
        return reviews::respond(cluster, &kind, &resource, request).await;
    }
    match find(cluster, &resource) {
        Some(kind) => serve_resource(cluster, &kind, &resource, request).await,
        None => Ok(response::page_not_found()),
    }
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
    // Namespaced objects are addressed within a namespace; lists may span all of them.
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

async fn serve_resource(
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
    let info = RequestInfo {
        verb,
        group: &kind.group,
        plural: &kind.plural,
        subresource: part,
        namespace: path.namespace.as_deref().unwrap_or_default(),
        name: path.name.as_deref().unwrap_or_default(),
        user_agent: agent(&parts),
    };
    let response = dispatch(cluster, kind, path, verb, &params, &parts, request_body);
    cluster.faults.apply(&info, response).await
}

async fn dispatch(
    cluster: &Arc<Cluster>,
    kind: &Arc<Kind>,
    path: &ResourcePath,
    verb: Verb,
    params: &Params,
    parts: &Parts,
    request_body: Body,
) -> Result<Response, ApiError> {
    let subresource = Subresource::of(kind, path.subresource.as_deref().unwrap_or_default());
    let mut form =
        negotiate(&parts.headers, EndpointRestrictions::Objects)?.fitting(kind, verb.as_str())?;
    if form.transform == Transform::Table {
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
            return containers::respond(cluster, kind, address, subresource);
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
    // The body's share of the memory budget is returned with the response.
    let received = body::read(request_body, parts.extensions.get()).await?;
    let request = WriteRequest {
        params,
        headers: &parts.headers,
        body: received.bytes,
        form,
    };
    if let Some(scale) = &scale {
        return scale::write(cluster, (kind, scale), address, verb, &request).await;
    }
    write_object(cluster, kind, path, (verb, subresource), &request).await
}

async fn write_object(
    cluster: &Arc<Cluster>,
    kind: &Arc<Kind>,
    path: &ResourcePath,
    (verb, subresource): (Verb, Option<Subresource>),
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let (namespace, name) = (path.namespace.as_deref(), path.name.as_deref());
    let address = (namespace.unwrap_or_default(), name.unwrap_or_default());
    let part = match subresource {
        Some(Subresource::Eviction) => return eviction::evict(cluster, kind, address, request),
        Some(Subresource::Finalize) => Part::Finalize,
        Some(Subresource::Status | Subresource::Approval) => Part::Status,
        _ => Part::Main,
    };
    match (verb, part) {
        (Verb::Create, Part::Main) if name.is_some() => {
            // Custom resources decode the body before they reject the method.
            if kind.is_custom() {
                body::decode(kind, request.headers, &request.body)?;
            }
            Err(ApiError::method_not_allowed())
        }
        (Verb::Create, Part::Main) if kind.namespaced && namespace.is_none() => {
            Err(ApiError::method_not_allowed())
        }
        (Verb::Create, Part::Main) => write::create(cluster, kind, address.0, request).await,
        (Verb::Update, part) => write::update(cluster, kind, address, part, request).await,
        (Verb::Patch, part) => write::patch(cluster, kind, address, part, request).await,
        (Verb::Delete, Part::Main) => write::delete(cluster, kind, address, request).await,
        (Verb::DeleteCollection, Part::Main) if !kind.is("", "namespaces") => {
            write::delete_collection(cluster, kind, namespace, request).await
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}
