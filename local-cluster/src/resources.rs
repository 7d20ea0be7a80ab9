//! The served kinds: built-in ones from a table, custom ones from their definitions.

mod builtin;
mod conversion;
mod crd;
mod defaults;
mod documents;
mod initial_status;
mod kind;
mod registry;
mod scale;
mod typed;
mod webhooks;

pub(crate) use conversion::Conversion;
pub(crate) use crd::{
    Names, accept_names, crd_defaults, crd_errors, format_warnings, is_established, kinds_of,
};
pub(crate) use defaults::fill_defaults;
pub(crate) use documents::{Document, Documents};
pub(crate) use initial_status::reset_status;
pub(crate) use kind::{Custom, Kind, PrinterColumn};
pub(crate) use registry::Registry;
pub(crate) use scale::Scale;
pub(crate) use typed::{check_types, unknown_fields};
pub(crate) use webhooks::{webhook_defaults, webhook_errors};
