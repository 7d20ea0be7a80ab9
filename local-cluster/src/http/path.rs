//! What a path points at.

/// A path of the API, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/GROUP`
    Group(String),
    /// `/api/v1` or `/apis/GROUP/VERSION`
    GroupVersion { group: String, version: String },
    /// `/openapi/v2`
    OpenapiV2,
    /// `/openapi/v3`
    OpenapiV3,
    /// `/openapi/v3/…`
    OpenapiV3Group(String),
    /// `/version`
    Version,
    /// `/healthz`, `/readyz`, `/livez`, or a check of theirs.
    Health { endpoint: String, check: String },
    /// `/`
    Root,
    /// Objects.
    Resource(ResourcePath),
    /// Anything else.
    Unknown,
}

/// The objects, or the object, that a path points at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl ResourcePath {
    /// Whether this is where pods are bound by name: there are no objects of the kind to be found.
    pub(crate) fn is_bindings(&self) -> bool {
        (
            self.group.as_str(),
            self.version.as_str(),
            self.plural.as_str(),
        ) == ("", "v1", "bindings")
            && self.namespace.is_some()
            && self.name.is_none()
    }
}

/// Takes a path apart; percent-encoded segments are decoded.
pub(crate) fn parse(path: &str) -> Path {
    let Some(segments) = path
        .split('/')
        .filter(|s| !s.is_empty())
        .map(decode)
        .collect::<Option<Vec<String>>>()
    else {
        return Path::Unknown;
    };
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["api"] => Path::CoreVersions,
        ["apis"] => Path::Groups,
        ["apis", group] => Path::Group((*group).to_owned()),
        ["api", version] => group_version("", version),
        ["apis", group, version] => group_version(group, version),
        ["api", version, rest @ ..] => resource("", version, rest),
        ["apis", group, version, rest @ ..] => resource(group, version, rest),
        ["openapi", "v2"] => Path::OpenapiV2,
        ["openapi", "v3"] => Path::OpenapiV3,
        ["openapi", "v3", rest @ ..] => Path::OpenapiV3Group(rest.join("/")),
        ["version"] => Path::Version,
        [endpoint @ ("healthz" | "readyz" | "livez"), check @ ..] => Path::Health {
            endpoint: (*endpoint).to_owned(),
            check: check.join("/"),
        },
        [] => Path::Root,
        _ => Path::Unknown,
    }
}

fn group_version(group: &str, version: &str) -> Path {
    Path::GroupVersion {
        group: group.to_owned(),
        version: version.to_owned(),
    }
}

fn resource(group: &str, version: &str, rest: &[&str]) -> Path {
    let made = |namespace: Option<&str>, plural: &str, name: Option<&str>, sub: Option<&str>| {
        Path::Resource(ResourcePath {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.map(str::to_owned),
            plural: plural.to_owned(),
            name: name.map(str::to_owned),
            subresource: sub.map(str::to_owned),
        })
    };
    match *rest {
        // A namespace is itself an object with subresources.
        ["namespaces", name, sub @ ("status" | "finalize")] => {
            made(None, "namespaces", Some(name), Some(sub))
        }
        ["namespaces", name] => made(None, "namespaces", Some(name), None),
        ["namespaces", namespace, plural] => made(Some(namespace), plural, None, None),
        ["namespaces", namespace, plural, name] => made(Some(namespace), plural, Some(name), None),
        ["namespaces", namespace, plural, name, sub] => {
            made(Some(namespace), plural, Some(name), Some(sub))
        }
        [plural] => made(None, plural, None, None),
        [plural, name] => made(None, plural, Some(name), None),
        [plural, name, sub] => made(None, plural, Some(name), Some(sub)),
        _ => Path::Unknown,
    }
}

/// A percent-encoded segment; `None` when it is not text.
pub(crate) fn decode(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |b: Option<u8>| char::from(b?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource_of(path: &str) -> ResourcePath {
        match parse(path) {
            Path::Resource(found) => found,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn resources() {
        let pod = resource_of("/api/v1/namespaces/d/pods/p/status");
        assert_eq!((pod.group.as_str(), pod.plural.as_str()), ("", "pods"));
        assert_eq!(pod.namespace.as_deref(), Some("d"));
        assert_eq!(pod.subresource.as_deref(), Some("status"));
        let namespace = resource_of("/api/v1/namespaces/d");
        assert_eq!(
            (namespace.plural.as_str(), namespace.name.as_deref()),
            ("namespaces", Some("d"))
        );
        assert_eq!(
            resource_of("/api/v1/namespaces/d/status")
                .subresource
                .as_deref(),
            Some("status")
        );
        assert_eq!(resource_of("/apis/g.io/v1/things").plural, "things");
        assert_eq!(
            resource_of("/apis/g.io/v1/things/a%2Fb").name.as_deref(),
            Some("a/b")
        );
    }

    #[test]
    fn everything_else() {
        assert_eq!(parse("/api"), Path::CoreVersions);
        assert_eq!(parse("/apis/"), Path::Groups);
        let ping = Path::Health {
            endpoint: "readyz".into(),
            check: "ping".into(),
        };
        assert_eq!(parse("/readyz/ping"), ping);
        assert_eq!(parse("/"), Path::Root);
        for unknown in [
            "/nope",
            "/api/v1/a/b/c/d/e/f",
            "/apis/g/v/%zz",
            "/apis/g/v/%ff",
        ] {
            assert_eq!(parse(unknown), Path::Unknown, "{unknown}");
        }
    }
}
