//! Paths of fields, formatted only when there is an error to report.

/// A path, linked to that of its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPath<'a> {
    parent: Option<&'a Self>,
    segment: PathSegment<'a>,
}

#[derive(Clone, Copy, Debug)]
enum PathSegment<'a> {
    /// The prefix of all paths, often empty.
    Root(&'a str),
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

impl<'a> FieldPath<'a> {
    /// `base` is the path of the root value (`status`), or empty.
    pub(crate) const fn root(base: &'a str) -> Self {
        Self {
            parent: None,
            segment: PathSegment::Root(base),
        }
    }

    pub(crate) const fn field(&'a self, name: &'a str) -> Self {
        self.to(PathSegment::Field(name))
    }

    pub(crate) const fn key(&'a self, key: &'a str) -> Self {
        self.to(PathSegment::Key(key))
    }

    pub(crate) const fn index(&'a self, index: usize) -> Self {
        self.to(PathSegment::Index(index))
    }

    const fn to(&'a self, segment: PathSegment<'a>) -> Self {
        Self {
            parent: Some(self),
            segment,
        }
    }

    pub(crate) const fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    /// In the notation of the OpenAPI validator: relative to the root value, map keys with dots.
    pub(crate) fn dotted(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, false);
        text
    }

    fn write(&self, text: &mut String, bracketed: bool) {
        if let Some(parent) = self.parent {
            parent.write(text, bracketed);
        }
        match self.segment {
            PathSegment::Root(base) if bracketed => text.push_str(base),
            PathSegment::Root(_) => {}
            PathSegment::Field(name) if text.is_empty() => text.push_str(name),
            PathSegment::Field(name) => text.push_str(&format!(".{name}")),
            PathSegment::Key(key) if bracketed => text.push_str(&format!("[{key}]")),
            PathSegment::Key(key) => text.push_str(&format!(".{key}")),
            PathSegment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }

    /// The dotted path as the field of an error.
    pub(crate) fn as_field(&self) -> String {
        let dotted = self.dotted();
        let dotted = dotted.strip_prefix('.').unwrap_or(&dotted);
        match (self.base(), dotted) {
            ("", "") => NIL_PATH.to_owned(),
            (base, "") => base.to_owned(),
            ("", dotted) => dotted.to_owned(),
            (base, dotted) => format!("{base}.{dotted}"),
        }
    }

    /// The root value as the field of an error.
    pub(crate) fn root_field(&self) -> String {
        match self.base() {
            "" => NIL_PATH.to_owned(),
            base => base.to_owned(),
        }
    }

    /// In the notation of `field.Path`: map keys in brackets.
    pub(crate) fn bracketed(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, true);
        if text.is_empty() {
            NIL_PATH.clone_into(&mut text);
        }
        text
    }

    fn base(&self) -> &'a str {
        match (self.parent, self.segment) {
            (Some(parent), _) => parent.base(),
            (None, PathSegment::Root(base)) => base,
            (None, _) => "",
        }
    }
}

/// An empty `field.Path`, as Go prints it.
pub(crate) const NIL_PATH: &str = "<nil>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_in_two_ways() {
        let root = FieldPath::root("");
        let spec = root.field("spec");
        let list = spec.field("list");
        let item = list.index(3);
        let entry = item.key("a.b/c");
        assert_eq!(entry.dotted(), "spec.list[3].a.b/c");
        assert_eq!(entry.bracketed(), "spec.list[3][a.b/c]");
        assert_eq!(
            (root.as_field(), root.bracketed()),
            (NIL_PATH.into(), NIL_PATH.into())
        );
        assert_eq!(
            (root.key("k").dotted(), root.key("k").as_field()),
            (".k".into(), "k".into())
        );
        let status = FieldPath::root("status");
        let ready = status.field("ready");
        assert_eq!(ready.dotted(), "ready");
        assert_eq!(
            (ready.as_field(), status.as_field()),
            ("status.ready".into(), "status".into())
        );
    }
}
