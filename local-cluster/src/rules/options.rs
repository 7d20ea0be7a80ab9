//! Options of write requests.

/// The handling of unknown fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// The part of an object that a write changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything but the status, if the kind has a status subresource.
    Main,
    Status,
    /// The replicas, through the scale subresource.
    Scale,
    Finalize,
}

impl Part {
    /// Empty for the object itself.
    pub(crate) fn subresource(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Finalize => "finalize",
        }
    }
}

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
