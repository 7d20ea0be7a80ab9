//! The parts that the drivers of both clouds share, and the description that the mock needs of them.

use crate::cloud::Cloud;
use crate::options::MockOptions;
use crate::resources::azure::AzureError;
use crate::resources::{
    BindError, CloudError, CreateError, NotFound, SetAttributesError, TooManyTargets, Unavailable,
};
use lbcf_driver_sdk::fields::Fields;
use lbcf_driver_sdk::webhook::{KubernetesObject, ListedBackend, StringMap};
use lbcf_driver_sdk::{Driver, HookError, Reason, fields};
use serde_json::json;
use std::error::Error;

/// A driver of one of the mock's clouds.
pub trait MockedDriver: Driver + Clone {
    /// Its cloud.
    fn cloud(&self) -> &Cloud;

    /// Its options.
    fn options(&self) -> &MockOptions;

    /// Its description for `lbcf conformance`, which the mock serves itself.
    fn fixture(&self) -> &'static str;
}

/// The annotation or label by which a pod asks to stay registered although it is not ready, for example during
/// an in-place update. Its value must be `true`.
pub const KEEP_REGISTERED: &str = "mock.lbcf/keep-registered";

/// Those of the pods that are not ready that stay registered because they ask for it, by name, namespace and
/// UID: some controllers compare only the UID.
pub(crate) fn stay_registered(not_ready: &[KubernetesObject]) -> Vec<KubernetesObject> {
    let asks = |pod: &&KubernetesObject| {
        let mut maps = [&pod.annotations, &pod.labels].into_iter();
        maps.any(|map| map.get(KEEP_REGISTERED).is_some_and(|it| it == "true"))
    };
    let reference = |pod: &KubernetesObject| {
        let metadata = json!({"name": pod.name, "namespace": pod.namespace, "uid": pod.uid});
        let reference = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
        KubernetesObject::of(&reference).ok()
    };
    not_ready
        .iter()
        .filter(asks)
        .filter_map(reference)
        .collect()
}

/// A backend of the cloud for `listBackends`. One that a user bound by hand has no parameters.
pub(crate) fn listed<P: Fields>(
    backend_addr: String,
    record_id: Option<String>,
    parameters: &StringMap,
) -> ListedBackend<Option<P>> {
    let parameters = match parameters.is_empty() {
        true => None,
        false => fields::read("parameters", parameters).ok(),
    };
    ListedBackend {
        backend_addr,
        parameters,
        record_id: record_id.unwrap_or_default(),
    }
}

/// An outage is not for the user to resolve: the driver fails with the delay that the cloud asked for. It
/// does not retry on its own, because the controller retries and reports it to the user (RTRY-05, RTRY-06).
impl From<Unavailable> for HookError {
    fn from(unavailable: Unavailable) -> Self {
        let reason = match unavailable.throttled_to {
            Some(_) => Reason::Throttled,
            None => Reason::Unavailable,
        };
        Self::new(reason, format!("{unavailable}, the controller retries"))
            .retry_after(unavailable.retry_after)
    }
}

/// A refusal of one of the clouds, in the specification's words.
pub(crate) trait Refusal: Error + Send + Sync + 'static {
    /// The class, if controllers know one.
    fn reason(&self) -> Option<Reason>;
}

impl Refusal for NotFound {
    fn reason(&self) -> Option<Reason> {
        Some(Reason::NotFound)
    }
}

impl Refusal for TooManyTargets {
    fn reason(&self) -> Option<Reason> {
        Some(Reason::Internal)
    }
}

impl Refusal for BindError {
    fn reason(&self) -> Option<Reason> {
        Some(match self {
            Self::NotFound(_) => Reason::NotFound,
            Self::Quota(_) => Reason::QuotaExceeded,
        })
    }
}

impl Refusal for SetAttributesError {
    fn reason(&self) -> Option<Reason> {
        Some(match self {
            Self::NotFound(_) => Reason::NotFound,
            Self::ChargeType(_) => Reason::InvalidArgument,
        })
    }
}

impl Refusal for CreateError {
    fn reason(&self) -> Option<Reason> {
        Some(match self {
            Self::NotFound(_) => Reason::NotFound,
            Self::Quota(_) => Reason::QuotaExceeded,
            Self::NoToken => Reason::InvalidArgument,
            Self::Changed { .. } => Reason::Conflict,
        })
    }
}

impl Refusal for AzureError {
    /// The cloud's 400 is for what only a user resolves, and for what passes when others have finished.
    fn reason(&self) -> Option<Reason> {
        match self.status {
            404 => Some(Reason::NotFound),
            409 | 412 => Some(Reason::Conflict),
            _ => None,
        }
    }
}

/// The message of a rejection explains how the user resolves it.
impl<E: Refusal> From<CloudError<E>> for HookError {
    fn from(error: CloudError<E>) -> Self {
        match error {
            CloudError::Unavailable(unavailable) => unavailable.into(),
            CloudError::Rejected(why) => match why.reason() {
                Some(reason) => Self::new(reason, why.to_string()).because(why),
                None => why.into(),
            },
        }
    }
}

/// The outcome of a batch of one.
pub(crate) fn only<T>(outcomes: Vec<Result<T, HookError>>) -> Result<T, HookError> {
    let first = outcomes.into_iter().next();
    first.unwrap_or_else(|| {
        Err(HookError::new(
            Reason::Internal,
            "a batch without an outcome",
        ))
    })
}

/// The result of a removal. What does not exist is removed already; during an outage that is not
/// known, and success would leave it behind.
pub(crate) fn ignore_not_found<T>(
    removal: Result<T, CloudError<NotFound>>,
) -> Result<(), HookError> {
    match removal {
        Ok(_) | Err(CloudError::Rejected(_)) => Ok(()),
        Err(CloudError::Unavailable(unavailable)) => Err(unavailable.into()),
    }
}
