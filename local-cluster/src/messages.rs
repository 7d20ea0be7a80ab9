//! The fields of the types of built-in kinds, by their numbers in protobuf messages.
//!
//! `messages.json` has those of all messages that clients can send.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// Names and forms by number.
type Fields = BTreeMap<u64, (&'static str, &'static str)>;
/// By API version or Go package, and name.
type Messages = HashMap<&'static str, HashMap<&'static str, Fields>>;

/// Written by `tests/real-cluster/messages`.
static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let file = include_str!("messages.json");
    serde_json::from_str(file).unwrap_or_default()
});

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Plain,
    /// A value that is absent unless it was sent.
    Pointer,
    List,
    Map,
    /// A message whose fields are its parent's in JSON.
    Inline,
}

/// The form of a field: `!` if JSON always has it, then a prefix for the shape, then the type of its values, which is a
/// letter of `special` in `http::protobuf::values`, `i` for integers, `b` for booleans or the name of a message.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    /// The section in which `base` is, unless it names another.
    pub(crate) section: &'static str,
    pub(crate) is_required: bool,
    pub(crate) shape: Shape,
    pub(crate) base: &'static str,
}

impl Field {
    pub(crate) fn of(section: &'static str, form: &'static str) -> Self {
        let (is_required, form) = match form.strip_prefix('!') {
            Some(form) => (true, form),
            None => (false, form),
        };
        let shapes = [
            ("*", Shape::Pointer),
            ("[]", Shape::List),
            ("{}", Shape::Map),
            ("^", Shape::Inline),
        ];
        let mut found = shapes
            .into_iter()
            .filter_map(|(prefix, shape)| Some((form.strip_prefix(prefix)?, shape)));
        let (base, shape) = found.next().unwrap_or((form, Shape::Plain));
        Self {
            section,
            is_required,
            shape,
            base,
        }
    }
}

/// The section and name of the metadata of every kind.
pub(crate) const METADATA: (&str, &str) = ("meta.k8s.io/v1", "ObjectMeta");

pub(crate) fn is_metadata_field(key: &str) -> bool {
    let fields = fields_of(METADATA.0, METADATA.1);
    fields.is_some_and(|(_, fields)| fields.values().any(|(name, _)| *name == key))
}

/// A message's section and fields; its name may begin with another section and a dot.
pub(crate) fn fields_of(section: &str, name: &str) -> Option<(&'static str, &'static Fields)> {
    let (section, name) = name.rsplit_once('.').unwrap_or((section, name));
    let (section, messages) = MESSAGES.get_key_value(section)?;
    Some((section, messages.get(name)?))
}
