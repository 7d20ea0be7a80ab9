//! A simulated load-balancer cloud in memory, with an HTTP API:
//!
//! ```text
//! GET    /ping
//! POST   /instances                                  {"clientToken": "…"} -> {"id": "…"}
//! POST   /instances/find                             {"clientToken": "…"} -> {"id": "…"}
//! DELETE /instances/ID
//! PUT    /instances/ID/listeners/PORT                {"scheduler": "…"}
//! DELETE /instances/ID/listeners/PORT
//! PUT    /instances/ID/listeners/PORT/targets/ADDR   {"weight": …}
//! DELETE /instances/ID/listeners/PORT/targets/ADDR
//! ```
//!
//! Errors have a 4xx status and `{"code": "…", "message": "…"}`.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The key that requests must have.
pub(crate) const KEY: &str = "example";

/// The quota of instances.
const QUOTA: usize = 3;

type Listener = BTreeMap<String, String>;

#[derive(Default)]
struct Account {
    created: u64,
    instances: BTreeMap<String, Instance>,
}

struct Instance {
    token: String,
    listeners: BTreeMap<u16, Listener>,
}

type Shared = State<Arc<Mutex<Account>>>;

struct Problem(StatusCode, &'static str, String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(status, code, message) = self;
        (
            status,
            json!({"code": code, "message": message}).to_string(),
        )
            .into_response()
    }
}

/// Serves the API on a free port, and returns its URL.
pub(crate) async fn serve() -> std::io::Result<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let app = Router::new()
        .route("/ping", get(async || "{}"))
        .route("/instances", post(create))
        .route("/instances/find", post(find))
        .route("/instances/{id}", delete(delete_instance))
        .route(
            "/instances/{id}/listeners/{port}",
            put(put_listener).delete(delete_listener),
        )
        .route(
            "/instances/{id}/listeners/{port}/targets/{target}",
            put(put_target).delete(delete_target),
        )
        .layer(from_fn(let_in))
        .with_state(Arc::default());
    tokio::spawn(axum::serve(listener, app).into_future());
    Ok(url)
}

async fn let_in(request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    if given.is_some_and(|given| given == format!("Bearer {KEY}").as_str()) {
        return next.run(request).await;
    }
    let message = "the API key is wrong".to_owned();
    Problem(StatusCode::UNAUTHORIZED, "WrongKey", message).into_response()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    client_token: String,
}

async fn create(State(account): Shared, body: Bytes) -> Result<String, Problem> {
    let Token { client_token } = read(&body)?;
    let mut account = lock(&account);
    if let Some(id) = by_token(&account, &client_token) {
        return Ok(id);
    }
    if account.instances.len() >= QUOTA {
        let message = format!("an account has {QUOTA} instances at most");
        return Err(Problem(StatusCode::CONFLICT, "QuotaExceeded", message));
    }
    account.created += 1;
    let id = format!("i-{}", account.created);
    let instance = Instance {
        token: client_token,
        listeners: BTreeMap::new(),
    };
    account.instances.insert(id.clone(), instance);
    Ok(json!({"id": id}).to_string())
}

async fn find(State(account): Shared, body: Bytes) -> Result<String, Problem> {
    let Token { client_token } = read(&body)?;
    by_token(&lock(&account), &client_token).ok_or_else(|| gone("instance with this token"))
}

async fn delete_instance(State(account): Shared, Path(id): Path<String>) -> Result<(), Problem> {
    let deleted = lock(&account).instances.remove(&id);
    deleted.map(drop).ok_or_else(|| gone(&id))
}

async fn put_listener(
    State(account): Shared,
    Path((id, port)): Path<(String, u16)>,
) -> Result<(), Problem> {
    let mut account = lock(&account);
    let instance = account.instances.get_mut(&id).ok_or_else(|| gone(&id))?;
    instance.listeners.entry(port).or_default();
    Ok(())
}

async fn delete_listener(
    State(account): Shared,
    Path((id, port)): Path<(String, u16)>,
) -> Result<(), Problem> {
    let mut account = lock(&account);
    let instance = account.instances.get_mut(&id).ok_or_else(|| gone(&id))?;
    let deleted = instance.listeners.remove(&port);
    deleted.map(drop).ok_or_else(|| gone("listener"))
}

async fn put_target(
    State(account): Shared,
    Path((id, port, target)): Path<(String, u16, String)>,
    body: Bytes,
) -> Result<(), Problem> {
    let mut account = lock(&account);
    let body = String::from_utf8_lossy(&body).into_owned();
    listener(&mut account, &id, port)?.insert(target, body);
    Ok(())
}

async fn delete_target(
    State(account): Shared,
    Path((id, port, target)): Path<(String, u16, String)>,
) -> Result<(), Problem> {
    let mut account = lock(&account);
    let deleted = listener(&mut account, &id, port)?.remove(&target);
    deleted.map(drop).ok_or_else(|| gone("target"))
}

fn listener<'a>(
    account: &'a mut Account,
    id: &str,
    port: u16,
) -> Result<&'a mut Listener, Problem> {
    let instance = account.instances.get_mut(id).ok_or_else(|| gone(id))?;
    let listener = instance.listeners.get_mut(&port);
    listener.ok_or_else(|| gone(&format!("listener {port}")))
}

fn by_token(account: &Account, token: &str) -> Option<String> {
    let mut instances = account.instances.iter();
    let (id, _) = instances.find(|(_, instance)| instance.token == token)?;
    Some(json!({"id": id}).to_string())
}

fn gone(what: &str) -> Problem {
    let message = format!("{what} does not exist");
    Problem(StatusCode::NOT_FOUND, "NotFound", message)
}

fn read(body: &[u8]) -> Result<Token, Problem> {
    serde_json::from_slice(body)
        .map_err(|error| Problem(StatusCode::BAD_REQUEST, "BadRequest", error.to_string()))
}

fn lock(account: &Mutex<Account>) -> MutexGuard<'_, Account> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}
