//! The common parts of the decisions.

use serde::{Deserialize, Serialize};

/// The user's change to the object that is validated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Operation {
    /// The object is created.
    #[default]
    Create,
    /// The object is updated.
    Update,
    /// A value that this edition of the specification does not define. The SDK's router refuses it
    /// before it calls the driver.
    Other(String),
}

/// Converts an enum whose last variant is `Other` from and to text.
macro_rules! open_enum {
    ($name:ident: $($variant:ident),+) => {
        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $(stringify!($variant) => Self::$variant,)+
                    _ => Self::Other(text),
                }
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$variant => stringify!($variant).into(),)+
                    $name::Other(text) => text,
                }
            }
        }
    };
}
pub(super) use open_enum;

open_enum!(Operation: Create, Update);

#[cfg(any(test, feature = "server"))]
impl Operation {
    /// A message for the user about a value that this edition of the specification does not define.
    pub(crate) fn unknown(&self) -> Option<String> {
        match self {
            Self::Create | Self::Update => None,
            Self::Other(text) => Some(format!("operation: {text:?}: must be Create or Update")),
        }
    }
}

/// A response with a decision.
pub trait VerdictResponse: Sized {
    /// The decision "no", with the reason for the user.
    fn refused(message: String) -> Self;
    /// True if the decision is yes.
    fn succ(&self) -> bool;
    /// The reason, for the user.
    fn message(&self) -> &str;
}

/// Declares the response of a decision: yes or no, and with a yes a result of its own.
macro_rules! verdict_response {
    ($(#[$doc:meta])* $name:ident => $result:ty { $($(#[$field_doc:meta])* $field:ident: $type:ty)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// True if the decision is yes.
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
