//! Dispatch of requests to handlers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures::FutureExt as _;
use http::{Method, StatusCode};

use super::accept::{Encoding, EndpointRestrictions, Transform, negotiate};
use super::call::{Call, agent};
use super::path::{RequestPath, ResourcePath, parse};
use super::query::Params;
use super::subresource::Subresource;
use super::table::Include;
use super::{
    body, delete, discovery, health, log, openapi, read, response, reviews, scale, watch, write,
};
use crate::faults::{RequestInfo, Verb};
use crate::resources::{Kind, Registry};
use crate::rules::Part;
use crate::status::ApiError;
use crate::store::Resource;
use crate::writer::Cluster;

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

/// The response to a request that a browser makes for another site.
pub(crate) fn forbidden(why: String) -> Response {
    let error = ApiError::with_reason(403, "Forbidden", format!("forbidden: {why}"));
    response::error(Encoding::Json, &error)
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
    let RequestPath::Resource(resource) = path else {
        return serve_page(&cluster.registry, path, &request);
    };
    if let Some(kind) = reviews::find(&cluster.registry, &resource) {
        return reviews::respond(cluster, &kind, request).await;
    }
    match find(cluster, &resource, request.method()) {
        Some(kind) => serve_resource(cluster, &kind, &resource, request).await,
        None => Ok(response::page_not_found()),
    }
}

/// Serves what is no object.
fn serve_page(
    registry: &Registry,
    path: RequestPath,
    request: &Request,
) -> Result<Response, ApiError> {
    let headers = request.headers();
    let form = |endpoint| negotiate(headers, endpoint);
    let (grouped, plain) = (EndpointRestrictions::Groups, EndpointRestrictions::Plain);
    Ok(match path {
        RequestPath::Unknown | RequestPath::Resource(_) => response::page_not_found(),
        _ if *request.method() != Method::GET => return Err(ApiError::method_not_allowed()),
        RequestPath::Health { endpoint, check } => {
            health::respond(&endpoint, &check, &Params::of(request.uri())?)
        }
        RequestPath::Root => openapi::index(registry),
        RequestPath::Version => response::json(StatusCode::OK, &discovery::version()),
        RequestPath::CoreVersions => discovery::core_versions(registry, headers, form(grouped)?),
        RequestPath::Groups => discovery::groups(registry, headers, form(grouped)?),
        RequestPath::Group(group) => discovery::group(registry, &group, form(plain)?),
        RequestPath::GroupVersion { group, version } => {
            discovery::group_version(registry, &group, &version, form(plain)?)
        }
        RequestPath::OpenapiV2 => openapi::v2(headers),
        RequestPath::OpenapiV3 => openapi::v3(registry, headers),
        RequestPath::OpenapiV3Group(of) => {
            openapi::v3_group(registry, headers, &of, &Params::of(request.uri())?)
        }
    })
}

fn find(cluster: &Cluster, path: &ResourcePath, method: &Method) -> Option<Arc<Kind>> {
    let kind = cluster
        .registry
        .find(&path.group, &path.version, &path.plural)?;
    // Namespaced objects are addressed within a namespace; lists may span all of them.
    let placed = match (kind.namespaced, &path.namespace) {
        (true, None) => path.name.is_none() && (!kind.is_custom() || *method == Method::GET),
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
    let named = path.name.is_some();
    let verb = match (&parts.method, named) {
        (&Method::GET, _) if path.watches => Verb::Watch,
        (&Method::GET, true) => Verb::Get,
        (&Method::GET, false) if params.flag("watch") => Verb::Watch,
        (&Method::GET, false) => Verb::List,
        (&Method::POST, _) => Verb::Create,
        (&Method::PUT, true) => Verb::Update,
        (&Method::PATCH, true) => Verb::Patch,
        (&Method::DELETE, true) => Verb::Delete,
        (&Method::DELETE, false) => Verb::DeleteCollection,
        _ => return Err(ApiError::method_not_allowed()),
    };
    let info = RequestInfo {
        verb,
        group: &kind.group,
        plural: &kind.plural,
        subresource: path.subresource.as_deref().unwrap_or_default(),
        namespace: path.namespace.as_deref().unwrap_or_default(),
        name: path.name.as_deref().unwrap_or_default(),
        user_agent: agent(&parts),
    };
    let resource = Resource::new(&kind.group, &kind.plural).to_string();
    let counters = &cluster.counters;
    counters.add(info.user_agent, verb.as_str(), resource, info.subresource);
    let handled = async {
        let mut form = negotiate(&parts.headers, EndpointRestrictions::Objects)?;
        if form.transform == Transform::Table {
            form.include = Include::of(params.get("includeObject"))?;
        }
        let call = Call {
            cluster,
            kind,
            path,
            params: &params,
            parts: &parts,
            form,
            body: Bytes::new(),
        };
        dispatch(call, verb, request_body).await
    };
    let deprecation = kind.deprecation();
    match (cluster.faults.apply(&info, handled).await, deprecation) {
        (Ok(response), Some(why)) => Ok(response::with_warnings(response, &[why])),
        (Err(error), Some(why)) if error.code() != 405 => Err(error.with_warnings(vec![why])),
        (result, _) => result,
    }
}

async fn dispatch(
    mut call: Call<'_>,
    verb: Verb,
    request_body: Body,
) -> Result<Response, ApiError> {
    let name = call.path.subresource.as_deref().unwrap_or_default();
    let subresource = Subresource::of(call.kind, name);
    let scale = subresource.filter(|part| *part == Subresource::Scale);
    let scale = scale.and_then(|_| call.kind.scale());
    let reads = matches!(verb, Verb::Get | Verb::List);
    let has_verb = subresource.is_none_or(|part| part.verbs().contains(&verb.as_str()));
    if !has_verb || call.kind.is_read_only() && !reads {
        return Err(ApiError::method_not_allowed());
    }
    if let Some(part) = subresource.filter(|part| part.needs_containers()) {
        return part.respond(&call);
    }
    match verb {
        Verb::Get => {
            return match &scale {
                Some(scale) => scale::get(&call, scale).await,
                None => read::get(&call).await,
            };
        }
        Verb::List => return read::list(&call).await,
        Verb::Watch => return watch::watch(&call).await,
        _ => {}
    }
    // The body's share of the memory budget is returned with the response.
    let received = body::read(request_body, call.parts.extensions.get()).await?;
    call.body = received.bytes;
    match &scale {
        Some(scale) => scale::write(&call, scale, verb).await,
        None => write_object(&call, verb, subresource).await,
    }
}

async fn write_object(
    call: &Call<'_>,
    verb: Verb,
    subresource: Option<Subresource>,
) -> Result<Response, ApiError> {
    let part = match subresource {
        Some(Subresource::Eviction) => return delete::evict(call),
        Some(Subresource::Finalize) => Part::Finalize,
        Some(Subresource::Status | Subresource::Approval) => Part::Status,
        _ => Part::Main,
    };
    let kind = call.kind;
    match (verb, part) {
        (Verb::Create, Part::Main) if call.path.name.is_some() => {
            // Custom resources decode the body before they reject the method.
            if kind.is_custom() {
                call.object()?;
            }
            Err(ApiError::method_not_allowed())
        }
        (Verb::Create | Verb::DeleteCollection, Part::Main)
            if kind.namespaced && call.namespace().is_none() =>
        {
            Err(ApiError::method_not_allowed())
        }
        (Verb::Create, Part::Main) => write::create(call).await,
        (Verb::Update, part) => write::update(call, part).await,
        (Verb::Patch, part) => write::patch(call, part).await,
        (Verb::Delete, Part::Main) => delete::delete(call).await,
        (Verb::DeleteCollection, Part::Main) if !kind.is("", "namespaces") => {
            delete::delete_collection(call).await
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}
