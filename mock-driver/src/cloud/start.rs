//! What a cloud holds at its start, and again after a reset.

use super::model::Model;
use super::state::CloudState;
use crate::azure::AzureState;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(super) enum Start {
    Empty,
    Samples,
    Azure,
    State(Arc<CloudState>),
}

impl Start {
    /// The instances in the sample manifests of the LBCF documents, with their listeners.
    const SAMPLES: [(&'static str, &'static str); 3] = [
        ("lb-1234", "lbl-2234"),
        ("lb-foo", "lsn-foo"),
        ("lb-bar", "lsn-bar"),
    ];

    pub(super) fn model(&self, now: Duration) -> Model {
        let mut model = Model::default();
        if let Self::State(state) = self {
            // It was checked when it was read.
            return state.model(now).unwrap_or_default();
        }
        if matches!(self, Self::Azure) {
            model.azure = Some(AzureState::default());
        }
        if matches!(self, Self::Samples) {
            for (load_balancer, listener) in Self::SAMPLES {
                model.add_existing(load_balancer, listener, 80);
            }
        }
        model
    }
}
