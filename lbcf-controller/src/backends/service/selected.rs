use crate::api::{ServiceMode, ServiceSelection};
use crate::index::{Index, Owner, ServiceView, SliceView, service_key};
use std::sync::Arc;

/// The Service that an owner selects.
#[derive(Debug, Default)]
pub(crate) struct SelectedService {
    pub(crate) service: Option<Arc<ServiceView>>,
    /// Its slices, if its endpoints are the backends.
    pub(crate) slices: Vec<Arc<SliceView>>,
}

impl SelectedService {
    pub(crate) fn of(index: &Index, owner: &Owner, selection: &ServiceSelection) -> Self {
        let key = service_key(owner, selection);
        Self {
            service: index.find(&key),
            slices: match selection.mode() {
                ServiceMode::NodePort => Vec::new(),
                ServiceMode::Endpoints => index.slices_of(&key),
            },
        }
    }
}
