//! `lbcf new`: what it writes and what it rejects; [`built`] builds a project.

use crate::process::{
    TempFile, assert_each_refused, assert_refused, ended, lbcf, run, text, words,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::api::{BackendGroup, LoadBalancer, LoadBalancerDriver};
use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod built;
mod guide;
mod languages;

fn files() -> Vec<&'static str> {
    words(
        ".dockerignore .github/workflows/ci.yml .gitignore Cargo.toml Dockerfile README.md conformance.yaml
        deploy/10-deployment.yaml deploy/20-service.yaml deploy/30-driver.yaml
        deploy/example/10-load-balancer.yaml deploy/example/20-backend-group.yaml deploy/example/30-web-server.yaml
        src/cloud.rs src/driver.rs src/fields.rs src/lib.rs src/main.rs src/observer.rs src/proxy.rs tests/driver.rs",
    )
}

/// The folder of the SDK in this checkout.
fn sdk() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lbcf-driver-sdk");
    folder.canonicalize().unwrap()
}

/// The flags of each variant of a project.
fn variants() -> Vec<Vec<&'static str>> {
    let sdk: &str = sdk().to_string_lossy().into_owned().leak();
    let mut variants = vec![vec![], vec!["--sdk-path", sdk], vec!["--kind", "local"]];
    for lang in &languages::ALL[1..] {
        variants.push(vec!["--lang", lang]);
        variants.push(vec!["--lang", lang, "--kind", "local"]);
    }
    variants
}

/// A path that does not exist, in an empty folder.
fn unused_path(name: &str) -> TempFile {
    let folder = TempFile::new(name);
    fs::create_dir_all(folder.path().parent().unwrap()).unwrap();
    folder
}

fn generate(name: &str, flags: &[&str]) -> TempFile {
    let project = unused_path(name);
    let output = run(&[&["new", name, "--path", project.as_str()], flags].concat());
    ended(&output, 0);
    project
}

fn read(project: &TempFile, file: &str) -> String {
    fs::read_to_string(project.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn parsed<T: DeserializeOwned>(project: &TempFile, file: &str) -> T {
    serde_saphyr::from_str(&read(project, file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Every file below a folder, including hidden ones.
fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let path = path.strip_prefix(folder).unwrap();
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_project_is_complete_and_has_no_placeholders() {
    for flags in variants() {
        let project = generate("demo-driver", &flags);
        let is_rust = !flags.contains(&"--lang");
        assert!(!is_rust || files_below(project.path()) == files());
        for file in files_below(project.path()) {
            let text = read(&project, &file);
            let is_placeholder =
                |at: usize| text[at..].starts_with(|it: char| it.is_ascii_uppercase());
            let mut marks = text.match_indices("__").map(|(at, _)| at + 2);
            assert!(!marks.any(is_placeholder), "{flags:?} {file}");
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{file}");
            assert!(!text.lines().any(|line| line.ends_with(' ')), "{file}");
        }
        let beside = fs::read_dir(project.path().parent().unwrap()).unwrap();
        assert_eq!(beside.count(), 1, "nothing is left next to the project");
    }
}

#[test]
fn every_place_to_fill_in_is_marked_and_listed_in_the_readme() {
    for flags in variants() {
        let project = generate("demo-driver", &flags);
        let readme = read(&project, "README.md");
        let files = files_below(project.path()).into_iter();
        for file in files.filter(|file| file != "README.md") {
            let folder = file
                .rsplit_once('/')
                .map(|(folder, _)| format!("{folder}/"));
            let names = [Some(file.clone()), folder];
            let is_listed = |name: String| readme.contains(&format!("| `{name}` |"));
            let is_listed = names.into_iter().flatten().any(is_listed);
            let has_mark = read(&project, &file).contains("FILL-IN");
            assert!(is_listed || !has_mark, "{flags:?} {file}");
        }
    }
    let project = generate("demo-driver", &[]);
    let driver = read(&project, "src/driver.rs");
    for (number, function) in (1..).zip([
        "create_load_balancer",
        "delete_load_balancer",
        "generate_backend_addr",
        "ensure_backend",
        "deregister_backend",
    ]) {
        let mark = format!("FILL-IN {number} of 5");
        let (_, behind) = driver.split_once(&mark).unwrap_or_else(|| panic!("{mark}"));
        let next = behind.split("async fn ").nth(1).unwrap();
        assert!(next.starts_with(function), "{mark}: {next}");
    }
}

#[test]
fn the_output_names_the_files_and_the_next_commands() {
    let project = unused_path("demo-driver");
    let output = lbcf(&["new", "demo-driver", "--port", "9001"])
        .current_dir(project.path().parent().unwrap())
        .output()
        .unwrap();
    let output_text = ended(&output, 0);
    for part in [
        "src/driver.rs",
        "`grep -rn FILL-IN demo-driver`",
        "It uses lbcf-driver-sdk in /",
        "  cd demo-driver && cargo test\n",
        "  lbcf dev --exec 'target/debug/demo-driver --listen 127.0.0.1:{port} --cloud-file target/cloud-$PPID.json --forward' --apply deploy/30-driver.yaml ",
        "  lbcf conformance run --exec 'target/debug/demo-driver ",
    ] {
        assert!(
            output_text.contains(part),
            "{part:?} is missing in\n{output_text}"
        );
    }
    assert!(project.path().join("Cargo.toml").exists());
}

#[test]
fn manifests_refer_to_each_other_and_need_no_privileges() {
    for (namespace, driver, examples) in [
        ("kube-system", "lbcf-demo-driver", "default"),
        ("team-a", "demo-driver", "team-a"),
    ] {
        let flags = ["--namespace", namespace, "--port", "9003"];
        let project = generate("demo-driver", &flags);

        let deployment: Deployment = parsed(&project, "deploy/10-deployment.yaml");
        let service: Service = parsed(&project, "deploy/20-service.yaml");
        let lbd: LoadBalancerDriver = parsed(&project, "deploy/30-driver.yaml");
        let lb: LoadBalancer = parsed(&project, "deploy/example/10-load-balancer.yaml");
        let group: BackendGroup = parsed(&project, "deploy/example/20-backend-group.yaml");

        assert_eq!(lbd.metadata.name.as_deref(), Some(driver));
        for own in [&deployment.metadata, &service.metadata, &lbd.metadata] {
            assert_eq!(own.namespace.as_deref(), Some(namespace));
        }
        for example in [&lb.metadata, &group.metadata] {
            assert_eq!(example.namespace.as_deref(), Some(examples));
        }
        assert_eq!(lb.spec.lb_driver, driver);
        assert_eq!(
            Some(group.spec.load_balancers),
            lb.metadata.name.map(|name| vec![name])
        );

        // The Service selects the pods, and the driver's URL is that of the Service.
        let template = deployment.spec.unwrap().template;
        let (labels, pod) = (template.metadata.unwrap().labels, template.spec.unwrap());
        let spec = service.spec.unwrap();
        assert_eq!(spec.selector, labels);
        let url = format!("http://demo-driver.{namespace}.svc.cluster.local");
        assert_eq!((lbd.spec.url, spec.ports.unwrap()[0].port), (url, 80));

        let container = &pod.containers[0];
        let ports = container.ports.as_ref().unwrap();
        assert_eq!(ports[0].container_port, 9003);
        for (probe, path) in [
            (&container.liveness_probe, "/livez"),
            (&container.readiness_probe, "/readyz"),
        ] {
            let get = probe.as_ref().unwrap().http_get.as_ref().unwrap();
            assert_eq!(get.path.as_deref(), Some(path));
        }
        let context = container.security_context.as_ref().unwrap();
        assert_eq!(context.read_only_root_filesystem, Some(true));
        assert_eq!(context.allow_privilege_escalation, Some(false));
        assert_eq!(pod.security_context.unwrap().run_as_non_root, Some(true));
        assert!(container.resources.as_ref().unwrap().limits.is_some());
    }
}

#[test]
fn a_relative_sdk_path_is_made_relative_to_the_project() {
    let project = unused_path("demo-driver");
    let checkout = project.path().parent().unwrap().join("my lbcf");
    let sdk = checkout.join("lbcf-driver-sdk");
    fs::create_dir_all(&sdk).unwrap();
    let package = "[package]\nname = \"lbcf-driver-sdk\"\n";
    fs::write(sdk.join("Cargo.toml"), package).unwrap();
    // The folder itself, and the root of its checkout.
    for given in ["my lbcf/lbcf-driver-sdk", "my lbcf"] {
        let to = words("new demo-driver --path a/project --sdk-path");
        let output = lbcf(&[&to[..], &[given]].concat())
            .current_dir(checkout.parent().unwrap())
            .output()
            .unwrap();
        ended(&output, 0);
        let project = checkout.with_file_name("a").join("project");
        let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
        let dependency = "lbcf-driver-sdk = { path = \"../../my lbcf/lbcf-driver-sdk\", ";
        assert!(manifest.contains(dependency), "{manifest}");
        let of_sdk = project.join("../../my lbcf/lbcf-driver-sdk/Cargo.toml");
        assert!(of_sdk.exists());
        let dockerfile = fs::read_to_string(project.join("Dockerfile")).unwrap();
        let context = "--build-context lbcf='../../my lbcf' ";
        assert!(dockerfile.contains(context), "{dockerfile}");
        fs::remove_dir_all(project).unwrap();
    }
}

#[test]
fn without_sdk_path_it_is_that_of_the_checkout_or_else_of_the_registry() {
    let project = generate("demo-driver", &[]);
    let path = format!("path = {:?}", sdk().to_str().unwrap());
    assert!(read(&project, "Cargo.toml").contains(&path));

    // A program that was installed.
    let installed = TempFile::new("lbcf");
    let program = env!("CARGO_BIN_EXE_lbcf");
    let linked = fs::hard_link(program, installed.path());
    // On another file system.
    linked
        .or_else(|_| fs::copy(program, installed.path()).map(drop))
        .unwrap();
    let project = unused_path("demo-driver");
    let output = Command::new(installed.path())
        .args(["new", "demo-driver", "--path", project.as_str()])
        .output()
        .unwrap();
    let (output, status) = (text(&output.stdout), output.status);
    assert!(
        status.success() && output.contains("--sdk-path DIR"),
        "{output}"
    );
    let manifest = read(&project, "Cargo.toml");
    let (major_minor, _) = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap();
    let dependency = format!("lbcf-driver-sdk = {{ version = \"{major_minor}\", ");
    assert!(manifest.contains(&dependency), "{manifest}");
    for file in ["Dockerfile", "README.md"] {
        assert!(!read(&project, file).contains("--build-context"), "{file}");
    }
}

#[test]
fn errors_name_the_argument_and_nothing_is_written() {
    let folder = unused_path("work");
    let work = folder.path().parent().unwrap();
    fs::write(work.join("file"), "mine").unwrap();
    fs::create_dir_all(work.join("other")).unwrap();
    fs::write(
        work.join("other/Cargo.toml"),
        "[package]\nname = \"other\"\n",
    )
    .unwrap();
    let before = files_below(work);
    let table = r#"
        Demo_Driver | "Demo_Driver"
        fn | keyword
        std | "std"
        demo --path file | file: a file of this name exists
        demo --path other | other: this folder is not empty
        demo --path file/demo | file/demo
        demo --sdk-path no/sdk | --sdk-path no/sdk
        demo --sdk-path other | --sdk-path other: not the folder of lbcf-driver-sdk
        demo --port 80 | 1024..=65535
        demo --port http | http
        demo --namespace Team_A | "Team_A"
        lbcf-demo --namespace team-a | kube-system
    "#;
    let new = |args: &[&str]| {
        let mut command = lbcf(&[&["new"], args].concat());
        command.current_dir(work).output().unwrap()
    };
    assert_each_refused(table, new);
    assert_refused(&new(&[]), "<NAME>");
    assert_eq!(files_below(work), before);
    assert_eq!(fs::read_to_string(work.join("file")).unwrap(), "mine");
}

#[test]
fn an_empty_folder_is_accepted_also_the_current_one() {
    let project = unused_path("demo-driver");
    fs::create_dir(project.path()).unwrap();
    let output = lbcf(&["new", "demo-driver", "--path", "."])
        .current_dir(project.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(files_below(project.path()), files());
    // Now the folder is not empty.
    let output = run(&["new", "demo-driver", "--path", project.as_str()]);
    assert_refused(&output, "is not empty");
}
