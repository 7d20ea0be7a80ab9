//! What a request to write says besides the object.

use super::FieldValidation;

/// The options of a create, an update or a patch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteOptions<'a> {
    pub(crate) validation: FieldValidation,
    /// Whether nothing is to be stored.
    pub(crate) dry_run: bool,
    /// Who owns the fields that change; where nobody is named, who owned them goes on to.
    pub(crate) manager: Option<&'a str>,
    /// As the client gave them, for admission webhooks.
    pub(crate) field_manager: Option<&'a str>,
    pub(crate) field_validation: Option<&'a str>,
}
