//! The served kinds: built-in ones from a table, custom ones from their definitions.

mod autoscalers;
mod builtin;
mod crd;
mod defaults;
mod documents;
mod events;
mod initial_status;
mod kind;
mod registry;
mod scale;
mod typed;
mod webhooks;

pub(crate) use autoscalers::{autoscaler_from_v1, autoscaler_to_v1};
pub(crate) use builtin::{RoundTrip, TypeSchema};
pub(crate) use crd::{
    Names, accept_names, crd_defaults, crd_errors, format_warnings, is_established, kinds_of,
    replica_errors,
};
pub(crate) use defaults::fill_defaults;
pub(crate) use documents::{Document, Documents};
pub(crate) use events::{event_from_v1, event_to_v1};
pub(crate) use initial_status::reset_status;
pub(crate) use kind::{Conversion, Custom, Kind, PrinterColumn};
pub(crate) use registry::Registry;
pub(crate) use scale::Scale;
pub(crate) use typed::{check_types, unknown_fields};
pub(crate) use webhooks::{webhook_defaults, webhook_errors};
