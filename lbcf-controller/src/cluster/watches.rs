//! One watch for each kind, whose events are applied to the index.

use super::watched::{FromWatched, Watched};
use crate::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver};
use crate::index::{
    Index, Indexed, NodeView, PodView, Request, ServiceView, SliceView, StoreEvent,
};
use crate::process::text::in_full;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::{Api, ApiResource};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, Resource};

type ApplyEvent = Box<dyn FnOnce(&mut Index) -> Vec<Request> + Send>;

/// An event of some kind's watch.
pub(crate) struct WatchEvent {
    pub kind: &'static str,
    /// True for the event that completes a list of all objects of the kind.
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

/// The number of kinds that are watched, and have to be listed before anything is reconciled.
pub(crate) const WATCHED_KINDS: usize = 9;

/// The events of all watches. The stream does not end: a watch that fails is restarted.
pub(crate) fn watch(client: &Client) -> impl Stream<Item = WatchEvent> + Send + use<> {
    futures::stream::select_all([
        watch_kind::<LoadBalancerDriver, LoadBalancerDriver>(client),
        watch_kind::<LoadBalancer, LoadBalancer>(client),
        watch_kind::<BackendGroup, BackendGroup>(client),
        watch_kind::<BackendRecord, BackendRecord>(client),
        watch_kind::<Bind, Bind>(client),
        watch_kind::<Pod, PodView>(client),
        watch_kind::<Service, ServiceView>(client),
        watch_kind::<Node, NodeView>(client),
        watch_kind::<EndpointSlice, SliceView>(client),
    ])
}

/// Watches the objects of a kind `K`, of which the index holds `V`.
fn watch_kind<K, V>(client: &Client) -> BoxStream<'static, WatchEvent>
where
    K: Resource<DynamicType = ()>,
    V: Indexed + FromWatched,
{
    let events = objects(client, ApiResource::erase::<K>(&()), V::KIND);
    let events = events.map(|event| {
        WatchEvent::new(match event {
            Event::Init => StoreEvent::Init,
            Event::InitDone => StoreEvent::InitDone,
            Event::InitApply(object) => applied(object, StoreEvent::<V>::InitApply),
            Event::Apply(object) => applied(object, StoreEvent::Apply),
            Event::Delete(object) => {
                let key = object.key();
                let deleted = V::from_watched(object).map(StoreEvent::Delete);
                deleted.unwrap_or(StoreEvent::UnreadableDelete(key))
            }
        })
    });
    events.boxed()
}

fn applied<V: Indexed + FromWatched>(
    object: Watched,
    event: fn(V) -> StoreEvent<V>,
) -> StoreEvent<V> {
    let key = object.key();
    V::from_watched(object).map_or_else(
        |error| {
            tracing::error!(kind = V::KIND, object = %key, %error, "cannot parse the object; ignoring it");
            StoreEvent::Unreadable(key)
        },
        event,
    )
}

/// The events of a watch, which is restarted with backoff after errors.
fn objects(
    client: &Client,
    resource: ApiResource,
    kind: &'static str,
) -> BoxStream<'static, Event<Watched>> {
    let api = Api::<Watched>::all_with(client.clone(), &resource);
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let events = events.filter_map(move |event| {
        std::future::ready(event.inspect_err(|error| log_error(kind, error)).ok())
    });
    events.boxed()
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
