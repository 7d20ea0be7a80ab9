//! A request as data, so that it can be sent twice, printed, and left out.

use std::fmt;

/// One request. Its path and body contain placeholders that each side fills with its own values: `<ns>`
/// is the scenario's namespace, `<rv:a>`, `<old:a>` and `<uid:a>` are the latest and first
/// `resourceVersion` and the `uid` of the object `a`, `<start>` is the version at which the scenario
/// began, `<continue>` the latest token of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// The verb by which requests are counted; those of patches are their types.
    pub(super) verb: String,
    /// For example `pods/status`.
    pub(super) resource: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) content_type: String,
    pub(super) accept: String,
    pub(super) body: String,
    /// The object whose values the response has.
    pub(super) object: String,
    /// A watch ends with the event of this object.
    pub(super) fence: Option<String>,
    /// The server writes the object's status on its own soon after a write.
    pub(super) settles: bool,
}

impl Step {
    pub(super) fn is_read(&self) -> bool {
        self.method == "GET"
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let but = |given: &str| {
            if given == "application/json" {
                String::new()
            } else {
                format!(" ({given})")
            }
        };
        let (accept, content_type) = (but(&self.accept), but(&self.content_type));
        write!(
            f,
            "{} {}{accept}{content_type} {}",
            self.method, self.path, self.body
        )
    }
}
