//! The steps of the GitHub action, executed as a runner does.

use crate::process::{TempFile, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with the files that a runner gives to steps.
struct Runner {
    folder: TempFile,
    inputs: BTreeMap<&'static str, String>,
    server: String,
    sources: String,
}

impl Runner {
    fn new(inputs: &[(&'static str, &str)]) -> Self {
        let folder = TempFile::new("runner");
        fs::create_dir(folder.path()).unwrap();
        Self {
            folder,
            inputs: inputs
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
            server: "http://127.0.0.1:1".to_owned(),
            sources: "/nowhere".to_owned(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The value of an expression such as `${{ inputs.exec }}`; the default of an input that is not given.
    fn value(&self, name: &str, action: &Value) -> String {
        match name {
            "github.server_url" => self.server.clone(),
            "github.action_repository" => "owner/lbcf".to_owned(),
            "github.action_path" => self.sources.clone(),
            name => {
                let input = name
                    .strip_prefix("inputs.")
                    .unwrap_or_else(|| panic!("{name}"));
                let default = action["inputs"][input]["default"]
                    .as_str()
                    .unwrap_or_else(|| panic!("{name}"));
                self.inputs
                    .get(input)
                    .cloned()
                    .unwrap_or_else(|| default.to_owned())
            }
        }
    }

    fn filled(&self, text: &str, action: &Value) -> String {
        let mut filled = String::new();
        let mut parts = text.split("${{ ");
        filled += parts.next().unwrap();
        for part in parts {
            let (name, rest) = part.split_once(" }}").unwrap();
            filled += &(self.value(name, action) + rest);
        }
        filled
    }

    /// Runs a step of this name, with this PATH.
    fn run(&self, step: &str, path: &str) -> Output {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../action.yml");
        let action: Value = serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let steps = action["runs"]["steps"].as_array().unwrap();
        let step = steps.iter().find(|it| it["name"] == step).unwrap();
        let env = step["env"].as_object().cloned().unwrap_or_default();
        let env = env
            .iter()
            .map(|(name, value)| (name.clone(), self.filled(value.as_str().unwrap(), &action)));
        // As GitHub calls it.
        let flags = ["--noprofile", "--norc", "-eo", "pipefail", "-c"];
        let mut command = Command::new("bash");
        command
            .args(flags)
            .arg(step["run"].as_str().unwrap())
            .envs(env);
        for name in ["PATH", "OUTPUT", "STEP_SUMMARY"] {
            command.env(format!("GITHUB_{name}"), self.path(name));
        }
        command
            .env("RUNNER_TEMP", self.folder.path())
            .env("PATH", path);
        command.current_dir(self.folder.path()).output().unwrap()
    }

    /// The PATH after the first step.
    fn installed(&self, path: &str) -> String {
        let output = self.run("Install lbcf", path);
        assert!(
            output.status.success(),
            "{}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        let added = fs::read_to_string(self.path("PATH")).unwrap();
        format!("{}:{path}", added.trim())
    }
}

fn path() -> String {
    std::env::var("PATH").unwrap()
}

/// With this build of lbcf.
fn own_path() -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_lbcf")).parent().unwrap();
    format!("{}:{}", own.display(), path())
}

#[test]
fn the_action_runs_the_kit_and_leaves_reports() {
    for (defect, code) in [("", 0), (" --defect string-delay", 1)] {
        let exec =
            format!("exec lbcf mock-driver --listen 127.0.0.1:{{port}} --creation-polls 2{defect}");
        let runner = Runner::new(&[
            ("exec", &exec),
            ("args", "--seed 1 --only WIRE --allow-partial"),
        ]);
        let path = runner.installed(&own_path());
        let output = runner.run("Run the conformance kit", &path);
        let stdout = text(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{stdout}{}",
            text(&output.stderr)
        );
        assert_eq!(stdout.contains("::error"), code == 1, "{stdout}");
        let reports = fs::read_to_string(runner.path("OUTPUT")).unwrap();
        let reports = reports.trim().strip_prefix("reports=").unwrap();
        for file in ["report.txt", "report.xml", "report.yaml"] {
            assert!(
                fs::metadata(Path::new(reports).join(file)).unwrap().len() > 100,
                "{file}"
            );
        }
        assert!(
            fs::read_to_string(runner.path("STEP_SUMMARY"))
                .unwrap()
                .contains("conformance")
        );
    }
}

/// A program that says who it is.
fn script(folder: &Path, says: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("lbcf"), format!("#!/bin/sh\necho {says}\n")).unwrap();
    fs::set_permissions(folder.join("lbcf"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Serves the files of a folder by their names; returns the URL.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let read = stream.read(&mut head).unwrap();
            let request = text(&head[..read]);
            let name = request
                .split(' ')
                .nth(1)
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned();
            let body = fs::read(folder.join(name)).unwrap();
            let head = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream
                .write_all(&[head.into_bytes(), body].concat())
                .unwrap();
        }
    });
    url
}

#[test]
fn the_action_takes_lbcf_from_a_release_that_is_as_its_sums_say() {
    let machine = text(&Command::new("uname").arg("-m").output().unwrap().stdout);
    let folder = format!("lbcf-9.9.9-{}", machine.trim());
    let release = TempFile::new("release");
    script(&release.path().join(&folder), "released");
    let pack = format!("tar -czf {folder}-linux.tar.gz {folder} && sha256sum *.gz >SHA256SUMS");
    let packed = Command::new("sh")
        .args(["-c", &pack])
        .current_dir(release.path())
        .status();
    assert!(packed.unwrap().success());
    let mut runner = Runner::new(&[("version", "v9.9.9")]);
    runner.server = serve(release.path().to_owned());
    let path = runner.installed(&own_path());
    let version = Command::new("sh")
        .args(["-c", "lbcf"])
        .env("PATH", &path)
        .output()
        .unwrap();
    assert_eq!(text(&version.stdout), "released\n");

    let sums = release.path().join("SHA256SUMS");
    let wrong = fs::read_to_string(&sums)
        .unwrap()
        .replace(|it: char| it.is_ascii_digit(), "0");
    fs::write(&sums, wrong).unwrap();
    assert!(!runner.run("Install lbcf", &own_path()).status.success());
}

#[test]
fn the_action_builds_lbcf_where_there_is_none() {
    let sources = TempFile::new("sources");
    let project = sources.path().join("lbcf-cli");
    fs::create_dir_all(project.join("src")).unwrap();
    let manifest = "[package]\nname = \"lbcf-cli\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[[bin]]\nname = \"lbcf\"\npath = \"src/main.rs\"\n[workspace]\n";
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    fs::write(
        project.join("Cargo.lock"),
        "version = 4\n[[package]]\nname = \"lbcf-cli\"\nversion = \"1.0.0\"\n",
    )
    .unwrap();
    fs::write(
        project.join("src/main.rs"),
        "fn main() { println!(\"built\"); }\n",
    )
    .unwrap();
    let mut runner = Runner::new(&[]);
    runner.sources = sources.as_str().to_owned();
    let without = path();
    let without: Vec<_> = without
        .split(':')
        .filter(|folder| !Path::new(folder).join("lbcf").exists())
        .collect();
    let output = runner.run("Install lbcf", &without.join(":"));
    let stdout = text(&output.stdout);
    assert!(
        stdout.ends_with("built\n"),
        "{stdout}{}",
        text(&output.stderr)
    );
}
