//! What the webhooks that decide have in common (b140, b151).

use serde::{Deserialize, Serialize};

/// What a user is doing to the object that is validated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Operation {
    /// It is new.
    #[default]
    Create,
    /// It is changed.
    Update,
    /// Something that this edition of the specification does not know. The SDK's router refuses
    /// it before a driver sees it.
    Other(String),
}

impl From<String> for Operation {
    fn from(text: String) -> Self {
        match text.as_str() {
            "Create" => Self::Create,
            "Update" => Self::Update,
            _ => Self::Other(text),
        }
    }
}

impl From<Operation> for String {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Create => "Create".into(),
            Operation::Update => "Update".into(),
            Operation::Other(text) => text,
        }
    }
}

impl Operation {
    /// The complaint about a value that is none of the specification's.
    pub(super) fn unknown(&self) -> Option<String> {
        match self {
            Self::Create | Self::Update => None,
            Self::Other(text) => Some(format!("operation: {text:?}: must be Create or Update")),
        }
    }
}

/// The request of a webhook that decides.
pub trait VerdictRequest {
    /// A complaint about a value that this edition of the specification does not know, for the
    /// user: which field, the value and what is allowed. The router refuses such a request.
    fn unknown_value(&self) -> Option<String>;
}

/// The response of a webhook that decides.
pub trait VerdictResponse: Sized {
    /// A response that says no, with the reason for the user.
    fn refused(message: String) -> Self;
    /// Whether it says yes.
    fn succ(&self) -> bool;
    /// What people read.
    fn message(&self) -> &str;
}

/// Declares a verdict's response: yes or no, and with a yes a result of its own.
macro_rules! verdict_response {
    ($(#[$doc:meta])* $name:ident => $result:ty { $($(#[$field_doc:meta])* $field:ident: $type:ty)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// Yes or no.
            pub succ: bool,
            /// The reason, for the user.
            #[serde(default, deserialize_with = "crate::wire::null_as_default")]
            pub msg: String,
            $($(#[$field_doc])* pub $field: $type,)?
        }

        impl $crate::webhook::VerdictResponse for $name {
            fn refused(message: String) -> Self {
                Self { succ: false, msg: message, $($field: Default::default(),)? }
            }
            fn succ(&self) -> bool {
                self.succ
            }
            fn message(&self) -> &str {
                &self.msg
            }
        }

        impl From<Result<$result, $crate::Rejection>> for $name {
            fn from(result: Result<$result, $crate::Rejection>) -> Self {
                match result {
                    Ok(_decided) => Self { succ: true, msg: String::new(), $($field: _decided,)? },
                    Err(rejection) => <Self as $crate::webhook::VerdictResponse>::refused(rejection.message().to_owned()),
                }
            }
        }
    };
}
pub(super) use verdict_response;
