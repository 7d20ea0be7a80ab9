//! The served kinds: built-in ones from a table, custom ones from their definitions.

mod builtin;
mod conversion;
mod crd;
mod defaults;
mod kind;
mod registry;
mod scale;
mod typed;
mod webhooks;

pub(crate) use self::conversion::Conversion;
pub(crate) use self::crd::{
    Names, accept_names, crd_defaults, crd_errors, format_warnings, is_established, kinds_of,
};
pub(crate) use self::defaults::{admit_pod, fill_defaults, reset_status};
pub(crate) use self::kind::{Custom, Kind, PrinterColumn};
pub(crate) use self::registry::{Document, Documents, Registry};
pub(crate) use self::scale::Scale;
pub(crate) use self::typed::{
    check_types, empty_object, in_go_words, normalise, normalise_message, normalise_metadata,
};
pub(crate) use self::webhooks::{webhook_defaults, webhook_errors};
