//! The rules of the specification: `openapi/specification.md`, the OpenAPI document, the documentation of
//! [`Driver`](crate::Driver) and the conformance kit have them from here.

// For the kit and for tests, which need each rule by its name.
#[doc(hidden)]
pub mod rules;

/// A rule's force, in the words of RFC 2119.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Without it controllers in the field retry indefinitely, lose an update, leave something behind, or
    /// do not understand.
    Must,
    /// Controllers work without it, but users suffer.
    Should,
}

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Stable, such as `ENS-02`, and never used for another rule. Documents write `LBCF-ENS-02`.
    pub id: &'static str,
    /// Its force.
    pub level: Level,
    /// The rule, with the word of its level.
    pub sentence: &'static str,
}

/// The rules about one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The beginning of the rules' ids, such as `ENS`.
    pub prefix: &'static str,
    /// The name of a webhook, or a subject that concerns several.
    pub title: &'static str,
    /// The rules, in their order.
    pub rules: &'static [Rule],
    /// Why no check is possible, where none is.
    pub unchecked: Option<&'static str>,
}

#[cfg(test)]
mod tests;
