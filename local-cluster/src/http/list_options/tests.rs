//! Parsing of list options, and validation errors in Kubernetes' words.

use super::*;
use crate::tests::rows;

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

/// The message of a 422 begins with what is invalid.
fn of_options(why: &str) -> String {
    why.replace("422 ", "422 ListOptions.meta.k8s.io \"\" is invalid: ")
}

#[test]
fn versions_and_matches_of_lists() {
    let shown = |query: &str| list(query).map(|plan| format!("{:?} {:?}", plan.when, plan.limit));
    let table = "
        resourceVersion=0 | NotOlderThan(0) None
        resourceVersion=0&limit=5 | NotOlderThan(0) None
        resourceVersion=7 | NotOlderThan(7) None
        resourceVersion=7&limit=5 | Exact(7) Some(5)
        resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan | NotOlderThan(7) Some(5)
        resourceVersion=7&resourceVersionMatch=Exact | Exact(7) None
        resourceVersion=0&resourceVersionMatch=NotOlderThan | NotOlderThan(0) None
        limit=-3 | NotOlderThan(0) None
    ";
    let defaults = ["", "NotOlderThan(0) None"];
    for [query, expected] in rows(table).into_iter().chain([defaults]) {
        assert_eq!(shown(query).unwrap(), expected, "{query}");
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
    let table = r#"
        resourceVersionMatch=Exact | 422 resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided
        resourceVersion=0&resourceVersionMatch=Exact | 422 resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"
        resourceVersion=3&resourceVersionMatch=x | 422 resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""
        resourceVersionMatch=Exact&resourceVersion=3&continue=TOKEN | 422 resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided
        sendInitialEvents=false | 422 sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list
        resourceVersion=3&continue=TOKEN | 400 specifying resource version is not allowed when using continue
        resourceVersion=x | 400 invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax
        resourceVersion=99999999999999999999 | 400 invalid resource version: resourceVersion: Invalid value: "99999999999999999999": strconv.ParseUint: parsing "99999999999999999999": value out of range
        limit=x | 400 strconv.ParseInt: parsing "x": invalid syntax
    "#;
    for [query, why] in rows(table) {
        let query = query.replace("TOKEN", &token(3, "/n\0"));
        assert_eq!(list(&query), Err(of_options(why)), "{query}");
    }
}

#[test]
fn watches_begin_as_requested() {
    let table = "
        allowWatchBookmarks=1 | Objects(0) true
        resourceVersion=0 | Objects(0) false
        resourceVersion=5&allowWatchBookmarks=true | After(5) false
        sendInitialEvents=true&NOT_OLDER | Objects(0) false
        sendInitialEvents=true&NOT_OLDER&resourceVersion=5&allowWatchBookmarks=true | Objects(5) true
        sendInitialEvents=false&NOT_OLDER&resourceVersion=5 | After(5) false
        sendInitialEvents=false&NOT_OLDER | Now false
        sendInitialEvents=false&NOT_OLDER&resourceVersion=0 | Now false
    ";
    let defaults = ["", "Objects(0) false"];
    for [query, expected] in rows(table).into_iter().chain([defaults]) {
        let query = query.replace("NOT_OLDER", "resourceVersionMatch=NotOlderThan");
        let (start, marks) = watch(&query).unwrap();
        assert_eq!(format!("{start:?} {marks}"), expected, "{query}");
    }
}

#[test]
fn invalid_watch_options_are_refused_in_kubernetes_words() {
    let table = r#"
        sendInitialEvents=true | 422 REQUIRES
        sendInitialEvents=false&resourceVersion=4 | 422 REQUIRES
        resourceVersionMatch=NotOlderThan | 422 resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided
        sendInitialEvents=true&resourceVersionMatch=Exact | 422 [REQUIRES, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]
        resourceVersion=x | 500 resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax
    "#;
    let requires = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    for [query, why] in rows(table) {
        let why = of_options(&why.replace("REQUIRES", requires));
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
