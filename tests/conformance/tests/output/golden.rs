//! Each sample in each format is what is checked in.

use super::samples::{self, NASTY};
use lbcf_conformance::output::{Color, Format, Output, Show, read, render};
use lbcf_conformance::report::FailurePolicy;
use std::path::{Path, PathBuf};

/// The files' names, as `formats/check.py` reads them.
const FILES: [(Format, &str); 6] = [
    (Format::Human, "report.txt"),
    (Format::Json, "report.json"),
    (Format::Junit, "report.xml"),
    (Format::Markdown, "report.md"),
    (Format::Github, "report.github"),
    (Format::Report, "report.yaml"),
];

fn folder(sample: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(sample)
}

fn check(file: &Path, text: &str) -> Result<(), String> {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let golden = std::fs::read_to_string(file).unwrap_or_default();
    if golden == text {
        return Ok(());
    }
    let line = golden.lines().zip(text.lines()).position(|(a, b)| a != b);
    Err(format!("{}, from line {line:?}", file.display()))
}

#[test]
fn samples_are_written_as_before() {
    let mut wrong = Vec::new();
    for (name, report) in samples::all() {
        for (format, file) in FILES {
            let text = render(&report, format, &Show::default()).unwrap();
            assert!(text.is_empty() || text.ends_with('\n'), "{name} {format}");
            wrong.extend(check(&folder(name).join(file), &text).err());
        }
    }
    let show = Show {
        color: true,
        ..Show::default()
    };
    let colored = render(&samples::sample(), Format::Human, &show).unwrap();
    wrong.extend(check(&folder("sample").join("report.ansi"), &colored).err());
    assert!(
        wrong.is_empty(),
        "these files are not as written; look at the difference after\n\
         UPDATE_GOLDEN=1 cargo test -p lbcf-conformance output\n{}",
        wrong.join("\n")
    );
}

#[test]
fn people_see_lines_that_fit_and_nothing_hidden() {
    for (name, report) in samples::all() {
        for width in [1, 60, 100, 160] {
            let show = Show {
                width,
                ..Show::default()
            };
            let text = render(&report, Format::Human, &show).unwrap();
            let hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!text.contains(hidden), "{name} at {width}");
            for line in text.lines() {
                let columns = textwrap::core::display_width(line);
                // Commands are there to be copied, so they are never broken.
                let is_command = line.starts_with("again:") || line.contains("curl ");
                let is_options = line.starts_with("      -");
                assert!(
                    columns <= width.max(60) || is_command || is_options || name == "nasty",
                    "{name} at {width}: {columns} columns: {line}"
                );
            }
        }
    }
}

#[test]
fn colors_change_nothing_but_colors() {
    for (_, report) in samples::all() {
        let plain = render(&report, Format::Human, &Show::default()).unwrap();
        let show = Show {
            color: true,
            ..Show::default()
        };
        let colored = render(&report, Format::Human, &show).unwrap();
        let mut stripped = String::new();
        for (index, part) in colored.split("\u{1b}[").enumerate() {
            // Each escape ends with its first `m`.
            let text = if index == 0 {
                part
            } else {
                part.split_once('m').unwrap().1
            };
            stripped.push_str(text);
        }
        let trimmed = |text: &str| {
            text.lines()
                .map(str::trim_end)
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(trimmed(&stripped), trimmed(&plain));
    }
}

#[test]
fn json_reads_back_as_it_was() {
    for (name, report) in samples::all() {
        let text = render(&report, Format::Json, &Show::default()).unwrap();
        assert_eq!(read(&text).unwrap(), report, "{name}");
    }
}

#[test]
fn texts_are_bounded_where_people_read_them() {
    let report = samples::nasty();
    for format in [Format::Human, Format::Github, Format::Markdown] {
        let text = render(&report, format, &Show::default()).unwrap();
        assert!(text.len() < 200_000, "{format}: {} bytes", text.len());
    }
    assert!(NASTY.contains("]]>"));
}

#[test]
fn a_steps_summary_is_not_too_long() {
    let mut report = samples::nasty();
    let failure = report.results[2].clone();
    let body = "x".repeat(4_000);
    report.results = (0..1_000)
        .map(|number| {
            let mut result = failure.clone();
            result.id = format!("WIRE{number}");
            result.failure.as_mut().unwrap().answer = Some(body.clone());
            result
        })
        .collect();
    let text = render(&report, Format::Markdown, &Show::default()).unwrap();
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
    assert!(text.contains("- WIRE999 "));
}

#[test]
fn a_should_is_red_only_where_it_counts() {
    let report = samples::sample();
    let strict = Show {
        policy: FailurePolicy {
            should: true,
            partial: false,
            strict_known: true,
        },
        ..Show::default()
    };
    for (format, lenient_has, strict_has) in [
        (
            Format::Github,
            "::warning title=DLB-05",
            "::error title=DLB-05",
        ),
        (
            Format::Github,
            "::warning title=DRG-04",
            "::error title=DRG-04",
        ),
        (
            Format::Junit,
            "failures=\"1\" errors=\"0\" time",
            "failures=\"3\" errors=\"0\" time",
        ),
        (Format::Human, "  ! DLB-05", "  ✗ DLB-05"),
        (Format::Human, "  ✓ DRG-04", "  ✗ DRG-04"),
    ] {
        let lenient_text = render(&report, format, &Show::default()).unwrap();
        let strict_text = render(&report, format, &strict).unwrap();
        assert!(
            lenient_text.contains(lenient_has),
            "{format}: {lenient_text}"
        );
        assert!(!lenient_text.contains(strict_has), "{format}");
        assert!(strict_text.contains(strict_has), "{format}: {strict_text}");
    }
}

#[test]
fn an_output_is_a_format_and_a_place() {
    for (text, format, path) in [
        ("human", Format::Human, None),
        ("json=-", Format::Json, None),
        ("report=a=b/c.yaml", Format::Report, Some("a=b/c.yaml")),
        // The name before there was a command for it.
        ("yaml=c.yaml", Format::Report, Some("c.yaml")),
    ] {
        let output: Output = text.parse().unwrap();
        assert_eq!(
            (output.format, output.path.as_deref()),
            (format, path.map(Path::new))
        );
    }
    for format in Format::ALL {
        let output: Output = format.to_string().parse().unwrap();
        assert_eq!((output.format, output.path), (format, None));
    }
    for (text, problem) in [
        ("", "unknown format \"\": allowed are human, json,"),
        ("JSON", "unknown format \"JSON\""),
        ("xml=a", "unknown format \"xml\""),
        ("=a", "unknown format \"\""),
        ("report=", "report= has no path: allowed are report=PATH"),
    ] {
        let error = text.parse::<Output>().unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}");
    }
    assert_eq!(Color::default(), Color::Auto);
}
