//! Options of write requests.

use super::FieldValidation;

/// `CreateOptions`, `UpdateOptions` and `PatchOptions`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteOptions<'a> {
    pub(crate) validation: FieldValidation,
    pub(crate) dry_run: bool,
    /// The field manager; without one, changed fields keep their managers.
    pub(crate) manager: Option<&'a str>,
    /// As given, for admission webhooks.
    pub(crate) field_manager: Option<&'a str>,
    pub(crate) field_validation: Option<&'a str>,
}
