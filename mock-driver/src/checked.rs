//! Texts of users' fields that are checked when they are read.

/// A type for texts that fit, and what is said about others.
macro_rules! checked {
    ($(#[$doc:meta])* $name:ident, $fits:expr, $problem:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                let fits = $fits;
                if fits(text.as_str()) { Ok(Self(text)) } else { Err($problem) }
            }
        }
    };
}

pub(crate) use checked;

/// The whole number that a text is, if it is in a range. Zeros in front do not matter.
pub(crate) fn whole(text: &str, range: std::ops::RangeInclusive<u8>) -> Option<u8> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_decimal)?;
    range.contains(&number).then_some(number)
}
