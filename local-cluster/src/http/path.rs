//! Parsing of request paths.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestPath {
    /// `/api`: the versions of the core group.
    CoreVersions,
    /// `/apis`: all groups but the core group.
    Groups,
    /// `/apis/GROUP`: the versions of a group.
    Group(String),
    /// `/api/v1` or `/apis/GROUP/VERSION`: the resources of a group version.
    GroupVersion {
        group: String,
        version: String,
    },
    OpenapiV2,
    OpenapiV3,
    /// The rest of a path under `/openapi/v3/`.
    OpenapiV3Group(String),
    Version,
    /// `/healthz`, `/readyz`, `/livez`, or one of their checks.
    Health {
        endpoint: String,
        check: String,
    },
    Root,
    Resource(ResourcePath),
    Unknown,
}

/// The resource, namespace, name and subresource of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// The path begins with `watch`, the old form of a watch.
    pub(crate) watches: bool,
}

/// Parses a path; percent-encoded segments are decoded.
pub(crate) fn parse(path: &str) -> RequestPath {
    let Some(segments) = path
        .split('/')
        .filter(|s| !s.is_empty())
        .map(decode)
        .collect::<Option<Vec<String>>>()
    else {
        return RequestPath::Unknown;
    };
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["api"] => RequestPath::CoreVersions,
        ["apis"] => RequestPath::Groups,
        ["apis", group] => RequestPath::Group((*group).to_owned()),
        ["api", version] => group_version("", version),
        ["apis", group, version] => group_version(group, version),
        ["api", version, rest @ ..] => resource("", version, rest),
        ["apis", group, version, rest @ ..] => resource(group, version, rest),
        ["openapi", "v2"] => RequestPath::OpenapiV2,
        ["openapi", "v3"] => RequestPath::OpenapiV3,
        ["openapi", "v3", rest @ ..] => RequestPath::OpenapiV3Group(rest.join("/")),
        ["version"] => RequestPath::Version,
        [endpoint @ ("healthz" | "readyz" | "livez"), check @ ..] => RequestPath::Health {
            endpoint: (*endpoint).to_owned(),
            check: check.join("/"),
        },
        [] => RequestPath::Root,
        _ => RequestPath::Unknown,
    }
}

fn group_version(group: &str, version: &str) -> RequestPath {
    RequestPath::GroupVersion {
        group: group.to_owned(),
        version: version.to_owned(),
    }
}

fn resource(group: &str, version: &str, rest: &[&str]) -> RequestPath {
    let made = |namespace: Option<&str>, plural: &str, name: Option<&str>, sub: Option<&str>| {
        RequestPath::Resource(ResourcePath {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.map(str::to_owned),
            plural: plural.to_owned(),
            name: name.map(str::to_owned),
            subresource: sub.map(str::to_owned),
            watches: false,
        })
    };
    match *rest {
        ["watch", ref rest @ ..] if !rest.is_empty() => match resource(group, version, rest) {
            RequestPath::Resource(path) => RequestPath::Resource(ResourcePath {
                watches: true,
                ..path
            }),
            other => other,
        },
        // A namespace is an object with subresources itself.
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
        _ => RequestPath::Unknown,
    }
}

/// Decodes a percent-encoded segment; `None` if it is not UTF-8.
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
            RequestPath::Resource(found) => found,
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
        assert_eq!(parse("/api"), RequestPath::CoreVersions);
        assert_eq!(parse("/apis/"), RequestPath::Groups);
        let ping = RequestPath::Health {
            endpoint: "readyz".into(),
            check: "ping".into(),
        };
        assert_eq!(parse("/readyz/ping"), ping);
        assert_eq!(parse("/"), RequestPath::Root);
        for unknown in [
            "/nope",
            "/api/v1/a/b/c/d/e/f",
            "/apis/g/v/%zz",
            "/apis/g/v/%ff",
        ] {
            assert_eq!(parse(unknown), RequestPath::Unknown, "{unknown}");
        }
    }
}
