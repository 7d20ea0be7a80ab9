//! `lbcf dev`: a driver under development, with the mock in its place.

use crate::process::{Running, TempFile, assert_each_refused, assert_refused, run};
use lbcf_conformance::numbers::Numbers;
use serde_json::Value;
use std::net::TcpStream;
use std::path::Path;

/// The command of a driver.
pub(crate) const DRIVER: &str = concat!(
    env!("CARGO_BIN_EXE_lbcf"),
    " mock-driver --listen 127.0.0.1:{port} --creation-polls 1 --log-level error"
);

pub(crate) fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/examples");
    examples.join(name).to_string_lossy().into_owned()
}

/// The next call with this text; lines of the driver and the notices are skipped.
fn call(dev: &Running, part: &str) -> Value {
    loop {
        let line = dev.line_with(part);
        if let Ok(call) = serde_json::from_str::<Value>(&line) {
            return call;
        }
    }
}

/// Where the driver listens.
fn driver_addr(dev: &Running) -> String {
    let driver = dev.line_with("driver      http://");
    let addr = driver.split("http://").nth(1).unwrap();
    addr.split(',').next().unwrap().to_owned()
}

pub(crate) fn load_balancer(port: &str) -> String {
    let manifest = std::fs::read_to_string(example("20-load-balancer-new.yaml")).unwrap();
    manifest.replace("\"80\"", &format!("{port:?}"))
}

#[test]
fn calls_are_shown_and_the_end_leaves_nothing() {
    for signal in ["INT", "TERM"] {
        let examples = [
            "00-namespace.yaml",
            "10-driver.yaml",
            "20-load-balancer-new.yaml",
        ];
        let mut args = vec!["dev", "--exec", DRIVER];
        let paths = examples.map(example);
        for path in &paths {
            args.extend(["--apply", path]);
        }
        let dev = Running::start(&args);
        let addr = driver_addr(&dev);
        let kubeconfig = dev.line_with("export KUBECONFIG=");
        let kubeconfig = kubeconfig.split('=').nth(1).unwrap().to_owned();
        assert!(Path::new(&kubeconfig).exists());
        let created = call(&dev, "lb-00000001/lbl-00000001");
        assert_eq!(created["webhook"], "createLoadBalancer", "{created}");
        assert!(
            created["request"]
                .as_str()
                .unwrap()
                .contains("vpc-12345678")
        );
        assert!(created["micros"].is_u64());
        dev.signal(signal);
        let (code, lines) = dev.wait();
        assert_eq!(code, Some(0), "{lines:?}");
        assert!(TcpStream::connect(&addr).is_err(), "the driver runs on");
        let folder = Path::new(&kubeconfig).parent().unwrap();
        assert!(!folder.exists(), "{}", folder.display());
    }
}

#[test]
fn the_driver_is_started_again_and_manifests_are_applied_again_when_they_change() {
    let (program, manifest) = (TempFile::new("program"), TempFile::new("lb.yaml"));
    std::fs::write(program.path(), "1").unwrap();
    std::fs::write(manifest.path(), load_balancer("65536")).unwrap();
    let (namespace, driver) = (example("00-namespace.yaml"), example("10-driver.yaml"));
    let paths = [&*namespace, &*driver, manifest.as_str()].join(",");
    let watch = ["--watch", program.as_str(), "--apply", &paths];
    let dev = Running::start(&[&["dev", "--exec", DRIVER][..], &watch].concat());
    let addr = driver_addr(&dev);
    let refused = dev.line_with("refused     LoadBalancer ");
    let named = "LoadBalancer my-namespace/my-load-balancer-1: ";
    assert!(
        refused.contains(named) && refused.matches("65536").count() == 1,
        "{refused}"
    );
    dev.line_with("ready ");
    std::fs::write(manifest.path(), load_balancer("81")).unwrap();
    dev.line_with("applied     LoadBalancer my-namespace/my-load-balancer-1");
    std::fs::write(program.path(), "22").unwrap();
    dev.line_with("restart ");
    dev.line_with("ready       the driver responds again");
    assert!(TcpStream::connect(&addr).is_ok());
    std::fs::write(manifest.path(), "a: [").unwrap();
    // Not that of a call during the restart, which is a line on standard output.
    let error = dev.line_with("error     ");
    assert!(error.contains("lb.yaml"), "{error}");
    assert_eq!(dev.interrupt().0, Some(0));
}

#[test]
fn a_driver_that_hangs_before_it_listens_is_started_again_when_it_is_mended() {
    let (program, mended) = (TempFile::new("program"), TempFile::new("mended"));
    std::fs::write(program.path(), "1").unwrap();
    let file = mended.as_str();
    let command = format!("test -e {file} || exec sleep 600; exec {DRIVER}");
    let dev = Running::start(&["dev", "--exec", &command, "--watch", program.as_str()]);
    // It is being waited for.
    dev.line_with("kubectl get ");
    std::fs::write(mended.path(), "").unwrap();
    std::fs::write(program.path(), "22").unwrap();
    dev.line_with("restart ");
    dev.line_with("ready ");
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0));
    let is_late = |line: &String| line.contains("does not respond");
    assert!(!lines.iter().any(is_late), "{lines:?}");
}

#[test]
fn a_driver_may_listen_on_either_address_of_localhost() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return crate::process::skip("a driver on ::1, as there is no IPv6 here");
    }
    let driver = DRIVER.replace("127.0.0.1", "[::1]");
    let dev = Running::start(&["dev", "--exec", &driver]);
    dev.line_with("ready ");
    assert_eq!(call(&dev, "\"healthz\"")["status"], "Succ");
    assert_eq!(dev.interrupt().0, Some(0));
    let checked = run(&["conformance", "run", "--exec", &driver, "--only", "HLTH-01"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
}

#[test]
fn what_is_refused_for_a_reason_that_passes_is_applied_when_it_has_passed() {
    let numbers = Numbers::of_this_machine();
    let addr = format!("127.0.0.1:{}", numbers.take(0, 0));
    let url = format!("http://{addr}");
    let examples = [
        "00-namespace.yaml",
        "10-driver.yaml",
        "20-load-balancer-new.yaml",
    ];
    let apply = examples.map(example).join(",");
    let dev = Running::start(&["dev", "--driver-url", &url, "--apply", &apply]);
    for _ in 0..3 {
        call(&dev, "\"validateLoadBalancer\"");
    }
    let driver = Running::start(&["mock-driver", "--listen", &addr]);
    while call(&dev, "\"createLoadBalancer\"")["status"] != "Succ" {}
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0), "{lines:?}");
    let help = format!("; start it at {url}, or name its address by --driver-url");
    for (word, end) in [
        (
            "refused     LoadBalancer my-namespace/",
            "(tried again until it is applied)",
        ),
        ("error     ", &help),
        ("ready       the driver responds", " again"),
        (
            "applied     LoadBalancer my-namespace/",
            "my-load-balancer-1",
        ),
    ] {
        let found: Vec<_> = lines.iter().filter(|line| line.starts_with(word)).collect();
        assert!(
            found.len() == 1 && found[0].ends_with(end),
            "{word}: {lines:?}"
        );
    }
    drop(driver);
}

#[test]
fn what_belongs_to_a_service_is_deleted_with_it_and_its_node_ports_do_not_respond() {
    let manifest = TempFile::new("service.yaml");
    let service_class = "
apiVersion: lbcf.tkestack.io/v1beta1
kind: LoadBalancerDriver
metadata: {name: lbcf-clb-application, namespace: kube-system}
spec:
  driverType: Webhook
  url: http://clb-app-driver.kube-system.svc.cluster.local
  serviceClass:
    name: example.com/clb
    lbSpec: {lbVpcID: vpc-12345678, lbListenerPort: $(port), lbListenerProtocol: $(protocol)}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  type: LoadBalancer
  loadBalancerClass: example.com/clb
  selector: {app: web}
  ports: [{port: 80}]
";
    std::fs::write(manifest.path(), service_class).unwrap();
    let dev = Running::start(&["dev", "--exec", DRIVER, "--apply", manifest.as_str()]);
    dev.line_with("note        Service default/web: its node ports do not respond here");
    while call(&dev, "\"createLoadBalancer\"")["status"] != "Succ" {}
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0), "{lines:?}");
    let is_deleted = |line: &String| line.contains("\"deleteLoadBalancer\"");
    assert!(lines.iter().any(is_deleted), "{lines:?}");
}

#[test]
fn folders_are_watched_with_what_comes_and_goes_in_them() {
    let folder = TempFile::new("sources");
    let (inner, other) = (folder.path().join("inner"), TempFile::new("other"));
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("driver.conf"), "1").unwrap();
    std::fs::write(other.path(), "1").unwrap();
    let watch = [folder.as_str(), other.as_str()].join(",");
    let manifests = [TempFile::new("a.yaml"), TempFile::new("b.yaml")];
    for manifest in &manifests {
        std::fs::write(manifest.path(), "# Nothing.\n").unwrap();
    }
    let apply = manifests.each_ref().map(TempFile::as_str).join(",");
    let dev = Running::start(&[
        "dev", "--exec", DRIVER, "--watch", &watch, "--apply", &apply,
    ]);
    let shown = dev.line_with("driver      http://");
    let (folder, file) = (folder.as_str(), other.as_str());
    let expected = format!(", started again when a file in {folder} or {file} changes");
    assert!(shown.ends_with(&expected), "{shown}");
    dev.line_with("ready ");
    let restarts = |change: &dyn Fn()| {
        change();
        dev.line_with("restart ");
        dev.line_with("ready       the driver responds again");
    };
    restarts(&|| std::fs::write(inner.join("driver.conf"), "22").unwrap());
    restarts(&|| std::fs::write(other.path(), "22").unwrap());
    restarts(&|| {
        std::fs::create_dir_all(inner.join("new/deep")).unwrap();
        std::fs::write(inner.join("new/deep/file"), "").unwrap();
    });
    // Twice, as the first change may be seen by the look after what came before it.
    restarts(&|| std::fs::write(inner.join("new/deep/file"), "1").unwrap());
    restarts(&|| std::fs::write(inner.join("new/deep/file"), "22").unwrap());
    restarts(&|| {
        std::fs::remove_dir_all(folder).unwrap();
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("driver.conf"), "333").unwrap();
    });
    restarts(&|| std::fs::write(inner.join("driver.conf"), "4444").unwrap());
    restarts(&|| std::fs::write(inner.join("driver.conf"), "55555").unwrap());
    std::fs::remove_file(manifests[0].path()).unwrap();
    std::fs::write(manifests[1].path(), load_balancer("81")).unwrap();
    dev.line_with("refused     LoadBalancer ");
    assert_eq!(dev.interrupt().0, Some(0));
}

#[test]
fn a_driver_gets_its_time_although_its_shell_ends_at_once() {
    let slow = "sh -c 'trap \"sleep 0.5; echo late; exit\" TERM; echo started-slow; \
                while :; do sleep 0.01; done' & : {port}; wait";
    let dev = Running::start(&["dev", "--exec", slow]);
    dev.line_with("started-slow");
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0));
    assert!(lines.contains(&"late".to_owned()), "{lines:?}");
}

#[test]
fn without_a_driver_object_there_is_one_and_text_has_a_line_for_each_call() {
    let manifest = TempFile::new("lb.yaml");
    let own = load_balancer("80").replace("lbcf-clb-application", "lbcf-dev");
    let own = own.replace("my-namespace", "default");
    std::fs::write(manifest.path(), own).unwrap();
    let apply = ["--apply", manifest.as_str(), "--output", "text"];
    let dev = Running::start(&[&["dev", "--exec", DRIVER][..], &apply].concat());
    dev.line_with("applied     LoadBalancerDriver kube-system/lbcf-dev");
    let line = dev.line_with("createLoadBalancer    Succ ");
    assert!(line.contains(" ms  lb-00000001/lbl-00000001"), "{line}");
    assert_eq!(dev.interrupt().0, Some(0));
}

#[test]
fn a_driver_that_ends_is_reported_and_what_cannot_be_used_is_named() {
    let dev = Running::start(&["dev", "--exec", "echo port {port}; exit 3"]);
    let ended = dev.line_with("its process ended with exit status: 3");
    assert!(ended.starts_with("error "), "{ended}");
    assert_eq!(dev.interrupt().0, Some(0));
    let table = r"
        dev | --exec <COMMAND>|--driver-url <URL>
        dev --exec true | {port}
        dev --exec {port} --watch /dev/null,/no/such/file | --watch /no/such/file: No such file
        dev --driver-url driver:80 | --driver-url driver:80:
    ";
    assert_each_refused(table, run);
    let missing = run(&["dev", "--exec", DRIVER, "--apply", "/no/such/folder"]);
    assert_refused(&missing, "--apply /no/such/folder: ");
}
