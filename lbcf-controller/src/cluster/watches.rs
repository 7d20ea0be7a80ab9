//! One watch for each kind, whose events are applied to the index.

use crate::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver};
use crate::error_text::in_full;
use crate::index::{Index, Indexed, NodeView, PodView, ServiceView, StoreEvent};
use crate::key::ObjectKey;
use crate::reconcile::Request;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::api::Api;
use kube::core::DeserializeGuard;
use kube::core::error_boundary::InvalidObject;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;

type ApplyEvent = Box<dyn FnOnce(&mut Index) -> Vec<Request> + Send>;

/// An event of some kind's watch.
pub(crate) struct WatchEvent {
    pub kind: &'static str,
    /// Whether this completes a list of all objects of the kind.
    pub is_init_done: bool,
    pub apply: ApplyEvent,
}

impl WatchEvent {
    fn new<T: Indexed>(event: StoreEvent<T>) -> Self {
        Self {
            kind: T::KIND,
            is_init_done: matches!(event, StoreEvent::InitDone),
            apply: Box::new(|index| T::apply(index, event)),
        }
    }
}

/// How many kinds are watched, and have to be listed before anything is reconciled.
pub(crate) const WATCHED_KINDS: usize = 8;

/// The events of all watches. The stream does not end: a watch that fails is restarted.
pub(crate) fn watch(client: &Client) -> impl Stream<Item = WatchEvent> + Send + use<> {
    futures::stream::select_all([
        watch_kind::<LoadBalancerDriver>(client),
        watch_kind::<LoadBalancer>(client),
        watch_kind::<BackendGroup>(client),
        watch_kind::<BackendRecord>(client),
        watch_kind::<Bind>(client),
        watch_view(client, PodView::of as fn(&Pod) -> _),
        watch_view(client, ServiceView::of as fn(&Service) -> _),
        watch_view(client, NodeView::of as fn(&Node) -> _),
    ])
}

fn watch_kind<K>(client: &Client) -> BoxStream<'static, WatchEvent>
where
    K: Indexed + Resource<DynamicType = ()> + Clone + DeserializeOwned,
{
    // An object that cannot be parsed must not stop the watch of all others.
    let api: Api<DeserializeGuard<K>> = Api::all(client.clone());
    let events = events(api, K::KIND).map(|event| {
        WatchEvent::new(match event {
            Event::Init => StoreEvent::Init,
            Event::InitDone => StoreEvent::InitDone,
            Event::InitApply(DeserializeGuard(Ok(object))) => StoreEvent::InitApply(pruned(object)),
            Event::Apply(DeserializeGuard(Ok(object))) => StoreEvent::Apply(pruned(object)),
            Event::InitApply(DeserializeGuard(Err(error)))
            | Event::Apply(DeserializeGuard(Err(error))) => unreadable(K::KIND, &error),
            Event::Delete(DeserializeGuard(Ok(object))) => StoreEvent::Delete(object),
            Event::Delete(DeserializeGuard(Err(error))) => {
                StoreEvent::UnreadableDelete(key_of(&error))
            }
        })
    });
    events.boxed()
}

/// Watches a kind of Kubernetes, of which the index holds only what reconciling needs.
fn watch_view<K, V>(client: &Client, view: fn(&K) -> V) -> BoxStream<'static, WatchEvent>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
    V: Indexed,
{
    let events = events(Api::<K>::all(client.clone()), V::KIND).map(move |event| {
        WatchEvent::new(match event {
            Event::Init => StoreEvent::Init,
            Event::InitDone => StoreEvent::InitDone,
            Event::InitApply(object) => StoreEvent::InitApply(view(&object)),
            Event::Apply(object) => StoreEvent::Apply(view(&object)),
            Event::Delete(object) => StoreEvent::Delete(view(&object)),
        })
    });
    events.boxed()
}

/// The events of a watch, which is restarted with backoff after errors.
fn events<T>(api: Api<T>, kind: &'static str) -> impl Stream<Item = Event<T>> + Send
where
    T: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let events = watcher(api, watcher::Config::default()).default_backoff();
    events.filter_map(move |event| {
        std::future::ready(event.inspect_err(|error| log_error(kind, error)).ok())
    })
}

fn log_error(kind: &str, error: &watcher::Error) {
    use watcher::Error::{InitialListFailed, WatchStartFailed};
    if let InitialListFailed(kube::Error::Api(status)) | WatchStartFailed(kube::Error::Api(status)) =
        error
        && status.code == 404
    {
        tracing::warn!(
            kind,
            "the cluster does not know this kind; `lbcf crds | kubectl apply -f -` installs it"
        );
    } else {
        tracing::warn!(kind, error = in_full(error), "watching failed; retrying");
    }
}

fn unreadable<K>(kind: &str, error: &InvalidObject) -> StoreEvent<K> {
    let key = key_of(error);
    tracing::error!(kind, object = %key, error = %error.error, "cannot parse the object; ignoring it");
    StoreEvent::Unreadable(key)
}

fn key_of(object: &InvalidObject) -> ObjectKey {
    let metadata = object.metadata.clone();
    ObjectKey::new(
        metadata.namespace.unwrap_or_default(),
        metadata.name.unwrap_or_default(),
    )
}

/// Without `managedFields`, which nothing reads and which are most of an object's size.
fn pruned<K: Resource>(mut object: K) -> K {
    object.meta_mut().managed_fields = None;
    object
}
