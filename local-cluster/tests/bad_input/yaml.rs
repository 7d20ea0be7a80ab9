//! YAML whose aliases expand.

use super::{MAPS, is_status, served, still_serves};
use crate::fixture::raw;

#[tokio::test]
async fn yaml_bombs_are_refused() {
    let (cluster, server) = served().await;
    let mut doubling = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        doubling.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            below.trim_end_matches(", ")
        ));
    }
    let long = "x".repeat(1_000_000);
    let mut copies = format!("a: &a \"{long}\"\n");
    for number in 0..1000 {
        copies.push_str(&format!("b{number}: &b{number} x\nc{number}: *a\n"));
    }
    let mut nested = format!("a0: &a0 [\"{long}\", \"{long}\"]\n");
    for level in 1..12 {
        nested.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1));
    }
    let merges = {
        let mut text = String::from("m0: &m0 {a: 1, b: 2}\n");
        for level in 1..1000 {
            text.push_str(&format!(
                "m{level}: &m{level} {{<<: [*m{0}, *m{0}], k{level}: 1}}\n",
                level - 1
            ));
        }
        text
    };
    for (what, body) in [
        ("doubling", doubling),
        ("copies of a long text", copies),
        ("nested copies", nested),
        ("merges", merges),
        ("itself", "a: &a [*a]\n".to_owned()),
        (
            "deep mappings",
            (0..200).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
        ),
        ("deep flow", "[".repeat(1_000_000)),
        (
            "deep block",
            (0..3000)
                .map(|n| format!("{}a:\n", " ".repeat(n % 1500)))
                .collect(),
        ),
        ("many documents", "---\na: b\n".repeat(100_000)),
        (
            "many anchors",
            (0..200_000).map(|n| format!("- &a{n} x\n")).collect(),
        ),
        ("not a number", "data: .nan\n".to_owned()),
        ("a tag", "data: !!binary \"AAAA\"\n".to_owned()),
        ("keys that are lists", "? [a, b]\n: c\n".to_owned()),
        ("no text", "data: \u{0}\n".to_owned()),
    ] {
        let began = std::time::Instant::now();
        let (code, response) = raw(
            &cluster,
            "POST",
            MAPS,
            "application/yaml",
            body.clone().into(),
        )
        .await;
        assert!((400..=422).contains(&code.as_u16()), "{what}: {code}");
        assert!(is_status(code.as_u16(), &response), "{what}: {response}");
        let apply = "application/apply-patch+yaml";
        let path = format!("{MAPS}/m?fieldManager=x");
        let (code, response) = raw(&cluster, "PATCH", &path, apply, body.into()).await;
        assert!((400..=422).contains(&code.as_u16()), "{what}: {code}");
        assert!(is_status(code.as_u16(), &response), "{what}: {response}");
        println!(
            "{what}: {:?}, {} kB at the most",
            began.elapsed(),
            most_memory_kb()
        );
    }
    still_serves(&cluster, &server).await;
}

/// The peak memory of the process; 0 where the system does not report it.
fn most_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
