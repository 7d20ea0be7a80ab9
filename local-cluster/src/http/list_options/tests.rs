//! Parsing of list options, and validation errors in Kubernetes' words.

use super::*;

fn params(query: &str) -> Params {
    Params::of(&format!("/x?{query}").parse().unwrap()).unwrap()
}

fn list(query: &str) -> Result<ListPlan, String> {
    let options = ListOptions::of_list(&params(query));
    let plan = options.and_then(|options| options.list());
    plan.map_err(|error| format!("{} {}", error.code(), error.message()))
}

fn watch(query: &str) -> Result<(WatchStart, bool), String> {
    let options = ListOptions::of_watch(&params(query));
    let start = options.and_then(|o| Ok((o.watch()?, o.sends_initial_events_end())));
    start.map_err(|error| format!("{} {}", error.code(), error.message()))
}

fn token(revision: i64, start: &str) -> String {
    use base64::Engine as _;
    let token = serde_json::json!({"v": "meta.k8s.io/v1", "rv": revision, "start": start});
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(token.to_string())
}

#[test]
fn versions_and_matches_of_lists() {
    for (query, when, limit) in [
        ("", VersionMatch::NotOlderThan(0), None),
        ("resourceVersion=0", VersionMatch::NotOlderThan(0), None),
        (
            "resourceVersion=0&limit=5",
            VersionMatch::NotOlderThan(0),
            None,
        ),
        ("resourceVersion=7", VersionMatch::NotOlderThan(7), None),
        ("resourceVersion=7&limit=5", VersionMatch::Exact(7), Some(5)),
        (
            "resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan",
            VersionMatch::NotOlderThan(7),
            Some(5),
        ),
        (
            "resourceVersion=7&resourceVersionMatch=Exact",
            VersionMatch::Exact(7),
            None,
        ),
        (
            "resourceVersion=0&resourceVersionMatch=NotOlderThan",
            VersionMatch::NotOlderThan(0),
            None,
        ),
        ("limit=-3", VersionMatch::NotOlderThan(0), None),
    ] {
        let plan = list(query).unwrap();
        assert_eq!((plan.when, plan.limit), (when, limit), "{query}");
    }
    let continued = |revision| {
        let query = format!("limit=2&continue={}", token(revision, "/ns/n\0"));
        let plan = list(&query).unwrap();
        assert_eq!(plan.from.as_deref(), Some("ns/n\0"));
        plan.when
    };
    assert_eq!(continued(9), VersionMatch::Exact(9));
    assert_eq!(continued(-1), VersionMatch::NotOlderThan(0));
}

#[test]
fn invalid_list_options_are_refused_in_kubernetes_words() {
    let options = "422 ListOptions.meta.k8s.io \"\" is invalid:";
    let token = token(3, "/n\0");
    for (query, why) in [
        (
            "resourceVersionMatch=Exact".to_owned(),
            format!("{options} resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"),
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact".to_owned(),
            format!("{options} resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""),
        ),
        (
            "resourceVersion=3&resourceVersionMatch=x".to_owned(),
            format!("{options} resourceVersionMatch: Unsupported value: \"x\": supported values: \"Exact\", \"NotOlderThan\", \"\""),
        ),
        (
            format!("resourceVersionMatch=Exact&resourceVersion=3&continue={token}"),
            format!("{options} resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"),
        ),
        (
            "sendInitialEvents=false".to_owned(),
            format!("{options} sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
        ),
        (
            format!("resourceVersion=3&continue={token}"),
            "400 specifying resource version is not allowed when using continue".to_owned(),
        ),
        (
            "resourceVersion=x".to_owned(),
            "400 invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax".to_owned(),
        ),
        (
            "resourceVersion=99999999999999999999".to_owned(),
            "400 invalid resource version: resourceVersion: Invalid value: \"99999999999999999999\": strconv.ParseUint: parsing \"99999999999999999999\": value out of range".to_owned(),
        ),
        (
            "limit=x".to_owned(),
            "400 strconv.ParseInt: parsing \"x\": invalid syntax".to_owned(),
        ),
    ] {
        assert_eq!(list(&query), Err(why), "{query}");
    }
}

#[test]
fn watches_begin_as_requested() {
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let none = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    for (query, start, marks) in [
        ("".to_owned(), WatchStart::Objects(0), false),
        (
            "allowWatchBookmarks=1".to_owned(),
            WatchStart::Objects(0),
            true,
        ),
        (
            "resourceVersion=0".to_owned(),
            WatchStart::Objects(0),
            false,
        ),
        (
            "resourceVersion=5&allowWatchBookmarks=true".to_owned(),
            WatchStart::After(5),
            false,
        ),
        (initial.to_owned(), WatchStart::Objects(0), false),
        (
            format!("{initial}&resourceVersion=5&allowWatchBookmarks=true"),
            WatchStart::Objects(5),
            true,
        ),
        (
            format!("{none}&resourceVersion=5"),
            WatchStart::After(5),
            false,
        ),
        (none.to_owned(), WatchStart::Now, false),
        (format!("{none}&resourceVersion=0"), WatchStart::Now, false),
    ] {
        assert_eq!(watch(&query), Ok((start, marks)), "{query}");
    }
}

#[test]
fn invalid_watch_options_are_refused_in_kubernetes_words() {
    let options = "422 ListOptions.meta.k8s.io \"\" is invalid:";
    let requires = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    let unless = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    let unsupported =
        "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"";
    for (query, why) in [
        ("sendInitialEvents=true", format!("{options} {requires}")),
        ("sendInitialEvents=false&resourceVersion=4", format!("{options} {requires}")),
        ("resourceVersionMatch=NotOlderThan", format!("{options} {unless}")),
        (
            "sendInitialEvents=true&resourceVersionMatch=Exact",
            format!("{options} [{requires}, {unsupported}]"),
        ),
        (
            "resourceVersion=x",
            "500 resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax".to_owned(),
        ),
    ] {
        assert_eq!(watch(query), Err(why), "{query}");
    }
}

#[test]
fn timeouts_are_bounded() {
    let timeout = |query: &str| ListOptions::of_watch(&params(query)).unwrap().timeout();
    assert_eq!(timeout(""), WATCH_TIMEOUT);
    assert_eq!(timeout("timeoutSeconds=0"), WATCH_TIMEOUT);
    assert_eq!(timeout("timeoutSeconds=7"), Duration::from_secs(7));
    assert_eq!(timeout("timeoutSeconds=-1"), Duration::ZERO);
    assert_eq!(timeout("timeoutSeconds=9223372036854775807"), LONGEST_WATCH);
}
