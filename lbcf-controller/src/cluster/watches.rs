//! Watches: one for each kind, each feeding the index.

use crate::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver};
use crate::error_text::in_full;
use crate::index::{Change, NodeView, PodView, ServiceView};
use crate::key::ObjectKey;
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::api::Api;
use kube::core::DeserializeGuard;
use kube::core::error_boundary::InvalidObject;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// What a watch said of which kind.
#[derive(Debug)]
pub(crate) enum Observed {
    Driver(Change<LoadBalancerDriver>),
    LoadBalancer(Change<LoadBalancer>),
    Group(Change<BackendGroup>),
    Record(Change<BackendRecord>),
    Bind(Change<Bind>),
    Pod(Change<PodView>),
    Service(Change<ServiceView>),
    Node(Change<NodeView>),
}

/// The watches of all kinds.
pub(crate) struct Watches {
    client: Client,
}

impl Watches {
    /// How many kinds are watched, and so how many lists have to end before deciding may begin.
    pub(crate) const KINDS: usize = 8;

    pub(crate) const fn new(client: Client) -> Self {
        Self { client }
    }

    /// What the watches say, for ever: a watch that breaks is taken up again.
    pub(crate) fn run(&self) -> impl Stream<Item = Observed> + Send + use<> {
        futures::stream::select_all([
            self.watch(Observed::Driver).boxed(),
            self.watch(Observed::LoadBalancer).boxed(),
            self.watch(Observed::Group).boxed(),
            self.watch(Observed::Record).boxed(),
            self.watch(Observed::Bind).boxed(),
            self.watch_cut_down::<Pod, _>(PodView::of, Observed::Pod)
                .boxed(),
            self.watch_cut_down::<Service, _>(ServiceView::of, Observed::Service)
                .boxed(),
            self.watch_cut_down::<Node, _>(NodeView::of, Observed::Node)
                .boxed(),
        ])
    }

    fn watch<K>(
        &self,
        observed: fn(Change<K>) -> Observed,
    ) -> impl Stream<Item = Observed> + Send + use<K>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
    {
        // An object that is not what its kind should be must not stop the watch of all others.
        let api: Api<DeserializeGuard<K>> = Api::all(self.client.clone());
        events::<_, K>(api).map(move |event| {
            observed(match event {
                Event::Init => Change::ListBegins,
                Event::InitDone => Change::ListEnds,
                Event::InitApply(DeserializeGuard(object)) => {
                    object.map_or_else(unreadable::<K>, |object| Change::Listed(pruned(object)))
                }
                Event::Apply(DeserializeGuard(object)) => {
                    object.map_or_else(unreadable::<K>, |object| Change::Applied(pruned(object)))
                }
                Event::Delete(DeserializeGuard(object)) => object.map_or_else(
                    |error| Change::Gone(key_of(&error)),
                    |object| Change::Deleted(pruned(object)),
                ),
            })
        })
    }

    /// Watches one of Kubernetes' own kinds; of each object only what deciding needs is kept.
    fn watch_cut_down<K, V>(
        &self,
        view: fn(&K) -> V,
        observed: fn(Change<V>) -> Observed,
    ) -> impl Stream<Item = Observed> + Send + use<K, V>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
        V: 'static,
    {
        events::<_, K>(Api::<K>::all(self.client.clone())).map(move |event| {
            observed(match event {
                Event::Init => Change::ListBegins,
                Event::InitDone => Change::ListEnds,
                Event::InitApply(object) => Change::Listed(view(&object)),
                Event::Apply(object) => Change::Applied(view(&object)),
                Event::Delete(object) => Change::Deleted(view(&object)),
            })
        })
    }
}

/// The events of a watch. Errors are logged and waited out.
fn events<T, K>(api: Api<T>) -> impl Stream<Item = Event<T>> + Send
where
    T: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
    K: Resource<DynamicType = ()>,
{
    watcher(api, watcher::Config::default())
        .default_backoff()
        .inspect_err(|error| tell(&K::kind(&()), error))
        .filter_map(async |event| event.ok())
}

/// Says what is wrong with a watch, and what to do where that is known.
fn tell(kind: &str, error: &watcher::Error) {
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
        tracing::warn!(kind, error = in_full(error), "watching fails; trying again");
    }
}

fn unreadable<K: Resource<DynamicType = ()>>(error: InvalidObject) -> Change<K> {
    let key = key_of(&error);
    let kind = K::kind(&());
    tracing::error!(%kind, object = %key, error = %error.error, "not understood; left alone");
    Change::Unreadable(key)
}

fn key_of(object: &InvalidObject) -> ObjectKey {
    let metadata = object.metadata.clone();
    ObjectKey::new(
        metadata.namespace.unwrap_or_default(),
        metadata.name.unwrap_or_default(),
    )
}

/// Who set which field is nothing that deciding asks for, and most of an object's size.
fn pruned<K: Resource>(mut object: K) -> K {
    object.meta_mut().managed_fields = None;
    object
}
