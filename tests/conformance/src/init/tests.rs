use super::*;
use crate::fixture::Fixture;
use std::cell::RefCell;
use std::fs;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn args(&self, flags: &[&str]) -> InitArgs {
        use clap::Parser;
        #[derive(Parser)]
        struct Command {
            #[command(flatten)]
            args: InitArgs,
        }
        let dir = self.0.path().to_str().unwrap();
        Command::parse_from(["init", dir].iter().chain(flags)).args
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap()
    }

    fn entries(&self) -> usize {
        fs::read_dir(self.0.path()).unwrap().count()
    }
}

/// A driver that rejects an empty `lbSpec`.
fn rejecting() -> Transport {
    let response = r#"{"succ":false,"msg":"lbSpec.vpc is missing"}"#;
    let handler = move || async move { response };
    let router = axum::Router::new().route("/validateLoadBalancer", axum::routing::post(handler));
    Transport::in_process(router)
}

fn no_network(_: &str) -> Result<Transport, String> {
    Err("no\nnetwork".into())
}

fn fixture(folder: &Folder) -> Fixture {
    Fixture::read(&folder.join(FILE), &["DLB-03"]).unwrap()
}

#[tokio::test]
async fn a_new_folder_gets_a_fixture_that_can_be_read() {
    let folder = Folder::new();
    let mut args = folder.args(&[]);
    args.dir = folder.join("a/b");
    let message = run(&args, no_network).await.unwrap();
    assert!(message.contains("conformance.yaml: written\n"), "{message}");
    assert!(message.contains("No driver was probed"), "{message}");
    assert!(message.contains("--ci github"), "{message}");
    Fixture::read(&args.dir.join(FILE), &["DLB-03"]).unwrap();
}

#[tokio::test]
async fn the_responses_are_in_the_file_and_in_the_message() {
    let folder = Folder::new();
    let args = folder.args(&["--url", "http://me:sesame@d.example:1/lbcf"]);
    let asked = RefCell::new(Vec::new());
    let connect = |url: &str| {
        asked.borrow_mut().push(url.to_owned());
        Ok(rejecting())
    };
    let message = run(&args, connect).await.unwrap();
    let roots = [
        "http://me:sesame@d.example:1/lbcf",
        "http://me:sesame@d.example:1",
    ];
    assert_eq!(*asked.borrow(), roots);
    assert!(
        message.contains("its message: lbSpec.vpc is missing"),
        "{message}"
    );
    assert!(
        message.contains("run --url http://d.example:1/lbcf --fixture"),
        "{message}"
    );
    let text = folder.read(FILE);
    assert!(
        text.contains("driver rejected an empty lbSpec: lbSpec.vpc is missing"),
        "{text}"
    );
    assert!(!text.contains("sesame") && !message.contains("sesame"));
    assert_eq!(fixture(&folder).endpoint.url, None);
}

#[tokio::test]
async fn without_a_password_the_url_counts() {
    let folder = Folder::new();
    let args = folder.args(&["--url", "http://d.example:1/"]);
    run(&args, |_| Ok(rejecting())).await.unwrap();
    let url = fixture(&folder).endpoint.url;
    assert_eq!(url.as_deref(), Some("http://d.example:1/"));
}

#[tokio::test]
async fn an_unreachable_driver_is_reported_in_one_line_and_the_file_is_written() {
    let folder = Folder::new();
    for url in ["http://d.example", "nonsense", "http://d.example/{x}"] {
        let args = folder.args(&["--url", url, "--force"]);
        let message = run(&args, no_network).await.unwrap();
        let line = message
            .lines()
            .find(|line| line.contains("could not be probed"));
        assert!(line.unwrap().ends_with("no network"), "{message}");
        fixture(&folder);
    }
}

#[tokio::test]
async fn nothing_is_written_over_without_force() {
    let folder = Folder::new();
    fs::write(folder.join(FILE), "mine").unwrap();
    let error = run(&folder.args(&[]), no_network).await.unwrap_err();
    let message = format!(
        "{}: the file exists; --force overwrites it",
        folder.join(FILE).display()
    );
    assert_eq!(error.to_string(), message);
    assert_eq!(folder.read(FILE), "mine");
    run(&folder.args(&["--force"]), no_network).await.unwrap();
    assert_ne!(folder.read(FILE), "mine");
    assert_eq!(folder.entries(), 1);
}

#[tokio::test]
async fn github_gets_a_workflow_and_all_or_nothing_is_written() {
    let folder = Folder::new();
    let args = folder.args(&["--ci", "github"]);
    let workflow = folder.join(WORKFLOW);
    fs::create_dir_all(workflow.parent().unwrap()).unwrap();
    fs::write(&workflow, "mine").unwrap();
    let error = run(&args, no_network).await.unwrap_err().to_string();
    assert!(
        error.contains("lbcf-conformance.yml: the file exists"),
        "{error}"
    );
    assert!(!folder.join(FILE).exists());
    fs::remove_file(&workflow).unwrap();
    let message = run(&args, no_network).await.unwrap();
    assert!(
        message.contains("lbcf-conformance.yml: written\n"),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&workflow).unwrap(), GITHUB);
}

#[tokio::test]
async fn gitlab_gets_a_job() {
    let folder = Folder::new();
    let message = run(&folder.args(&["--ci", "gitlab"]), no_network)
        .await
        .unwrap();
    assert!(message.ends_with(GITLAB), "{message}");
    assert_eq!(folder.entries(), 1);
}

#[tokio::test]
async fn errors_of_writing_contain_the_path() {
    let folder = Folder::new();
    fs::create_dir(folder.join(FILE)).unwrap();
    for flags in [&[][..], &["--force"]] {
        let error = run(&folder.args(flags), no_network)
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("conformance.yaml: this is a folder"),
            "{error}"
        );
    }
    let mut args = folder.args(&[]);
    args.dir = folder.join("file");
    fs::write(&args.dir, "").unwrap();
    let error = run(&args, no_network).await.unwrap_err().to_string();
    assert!(error.contains(args.dir.to_str().unwrap()), "{error}");
    assert_eq!(folder.entries(), 2);
}

#[cfg(unix)]
#[tokio::test]
async fn links_stay_links() {
    let folder = Folder::new();
    fs::write(folder.join("real"), "mine").unwrap();
    std::os::unix::fs::symlink("real", folder.join(FILE)).unwrap();
    run(&folder.args(&[]), no_network).await.unwrap_err();
    run(&folder.args(&["--force"]), no_network).await.unwrap();
    assert!(folder.join(FILE).is_symlink());
    assert_ne!(folder.read("real"), "mine");
    assert_eq!(folder.entries(), 2);
}

#[test]
fn words_for_a_shell() {
    assert_eq!(word("a/b.yaml"), "a/b.yaml");
    assert_eq!(word("it's $5"), r"'it'\''s $5'");
    assert_eq!(word(""), "''");
}

#[test]
fn urls_are_written_without_secrets() {
    for (url, shown, is_cut) in [
        ("http://d.example/a@b", "http://d.example/a@b", false),
        (
            "https://me:p@ss@d.example:1/x?y#z",
            "https://d.example:1/x?y#z",
            true,
        ),
    ] {
        let written = written(url);
        if let Some(written) = written {
            assert_eq!((written.shown.as_str(), written.is_cut), (shown, is_cut));
        }
    }
    assert_eq!(written("ftp://d.example"), None);
    assert_eq!(root_of("http://d.example"), None);
    assert_eq!(root_of("http://d.example//"), None);
    assert_eq!(
        root_of("http://d.example/lbcf").as_deref(),
        Some("http://d.example")
    );
    assert_eq!(Path::new(FILE).extension().unwrap(), "yaml");
}

#[test]
fn both_are_yaml_and_run_the_kit_with_the_fixture() {
    let github: serde_json::Value = serde_saphyr::from_str(GITHUB).unwrap();
    let steps = github["jobs"]["conformance"]["steps"].as_array().unwrap();
    let run = steps[3]["run"].as_str().unwrap();
    let gitlab: serde_json::Value = serde_saphyr::from_str(GITLAB).unwrap();
    let script = gitlab["lbcf-conformance"]["script"][0].as_str().unwrap();
    for line in [run, script] {
        assert!(line.starts_with("lbcf conformance run --"), "{line}");
        assert!(line.contains("--fixture conformance.yaml "), "{line}");
        assert!(
            line.contains("--output junit=lbcf-conformance.xml"),
            "{line}"
        );
        assert!(!line.contains('\n'), "{line}");
    }
}
