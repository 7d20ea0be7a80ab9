//! Where in an object a walk is, written out only when there is something to complain about.

/// A place, linked to the one that it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Self>,
    step: Step<'a>,
}

/// How to get from one place to the next.
#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    /// The beginning: nothing, or what is written before everything else.
    Root(&'a str),
    /// A property by its name.
    Field(&'a str),
    /// An entry of a map by its key.
    Key(&'a str),
    /// An item of a list.
    Index(usize),
}

impl<'a> Path<'a> {
    /// The place of the whole value; `base` is where that is in the object (`status`), or empty.
    pub(crate) const fn root(base: &'a str) -> Self {
        Self {
            parent: None,
            step: Step::Root(base),
        }
    }

    /// The place of a property.
    pub(crate) const fn field(&'a self, name: &'a str) -> Self {
        self.to(Step::Field(name))
    }

    /// The place of an entry of a map.
    pub(crate) const fn key(&'a self, key: &'a str) -> Self {
        self.to(Step::Key(key))
    }

    /// The place of an item.
    pub(crate) const fn index(&'a self, index: usize) -> Self {
        self.to(Step::Index(index))
    }

    const fn to(&'a self, step: Step<'a>) -> Self {
        Self {
            parent: Some(self),
            step,
        }
    }

    /// Whether this is the whole value.
    pub(crate) const fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    /// The path as the validator of schemas writes it: from the value that it checks, all with dots.
    pub(crate) fn dotted(&self) -> String {
        let mut text = self.parent.map(Path::dotted).unwrap_or_default();
        match self.step {
            Step::Root(_) => {}
            Step::Field(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Step::Index(index) => {
                text.push('[');
                text.push_str(&index.to_string());
                text.push(']');
            }
        }
        text
    }

    /// The dotted path as a field of the object.
    pub(crate) fn as_field(&self) -> String {
        let dotted = self.dotted();
        let dotted = dotted.strip_prefix('.').unwrap_or(&dotted);
        match (self.base(), dotted) {
            ("", "") => NOWHERE.to_owned(),
            (base, "") => base.to_owned(),
            ("", dotted) => dotted.to_owned(),
            (base, dotted) => format!("{base}.{dotted}"),
        }
    }

    /// The field that the whole value is.
    pub(crate) fn root_field(&self) -> String {
        match self.base() {
            "" => NOWHERE.to_owned(),
            base => base.to_owned(),
        }
    }

    /// The path as all other checks write it: keys of maps in brackets.
    pub(crate) fn bracketed(&self) -> String {
        let text = self.bracketed_part();
        if text.is_empty() {
            NOWHERE.to_owned()
        } else {
            text
        }
    }

    fn bracketed_part(&self) -> String {
        let mut text = self.parent.map(Path::bracketed_part).unwrap_or_default();
        match self.step {
            Step::Root(base) => text.push_str(base),
            Step::Field(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Key(key) => text.push_str(&format!("[{key}]")),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
        text
    }

    fn base(&self) -> &'a str {
        match (self.parent, self.step) {
            (Some(parent), _) => parent.base(),
            (None, Step::Root(base)) => base,
            (None, _) => "",
        }
    }
}

/// How Kubernetes writes the path of what is about no field.
pub(crate) const NOWHERE: &str = "<nil>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_in_two_ways() {
        let root = Path::root("");
        let spec = root.field("spec");
        let list = spec.field("list");
        let item = list.index(3);
        let entry = item.key("a.b/c");
        assert_eq!(entry.dotted(), "spec.list[3].a.b/c");
        assert_eq!(entry.bracketed(), "spec.list[3][a.b/c]");
        assert_eq!(
            (root.as_field(), root.bracketed()),
            (NOWHERE.into(), NOWHERE.into())
        );
        assert_eq!(
            (root.key("k").dotted(), root.key("k").as_field()),
            (".k".into(), "k".into())
        );
        let status = Path::root("status");
        let ready = status.field("ready");
        assert_eq!(ready.dotted(), "ready");
        assert_eq!(
            (ready.as_field(), status.as_field()),
            ("status.ready".into(), "status".into())
        );
    }
}
