//! `lbcf dev` with drivers in several languages: started again after a change of each source, and nothing left of them.

use crate::endings::{CLOSED_TERMINAL, SIGNALS};
use crate::process::{
    Running, TempFile, is_left_to_the_exhaustive_run, lbcf, skip, text, with_hangup,
};
use std::path::PathBuf;
use std::process::Command;

/// A driver that is run from its sources.
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// Where its sources are.
    pub(crate) folder: PathBuf,
    /// The ends of the names of its sources, and what begins a comment in them.
    pub(crate) sources: (&'static str, &'static str),
    /// Ends with the driver's port, by which its processes are found.
    pub(crate) command: String,
    pub(crate) lb_spec: &'static str,
    /// Sets the environment.
    pub(crate) prepare: fn(&mut Command),
}

impl Language {
    /// Changes every source, and ends sessions in every way.
    #[track_caller]
    pub(crate) fn check(&self) {
        self.restarts();
        for signal in SIGNALS {
            let session = self.session();
            session.dev.signal(signal);
            session.assert_nothing_is_left();
        }
        let session = self.session();
        let killed = pkill("KILL", &session.port);
        assert!(killed, "{}: no process to kill", self.name);
        session.dev.line_with("its process ended");
        session.dev.signal("INT");
        session.assert_nothing_is_left();
        self.ends_with_its_terminal();
    }

    fn restarts(&self) {
        let session = self.session();
        let folders = ["", "src", "dist"].map(|name| self.folder.join(name));
        let sources = folders.iter().flat_map(std::fs::read_dir).flatten();
        let sources = sources.map(|entry| entry.unwrap().path());
        let (end, comment) = self.sources;
        let is_source = |path: &PathBuf| path.to_string_lossy().ends_with(end);
        let sources: Vec<_> = sources.filter(is_source).collect();
        assert!(!sources.is_empty(), "{}", self.name);
        for source in sources {
            let changed = std::fs::read_to_string(&source).unwrap() + comment + " Changed.\n";
            std::fs::write(&source, changed).unwrap();
            session.dev.line_with("restart  ");
            session
                .dev
                .line_with("ready       the driver responds again");
        }
        session.dev.signal("INT");
        session.assert_nothing_is_left();
    }

    /// A session whose driver has created a load balancer.
    fn session(&self) -> Session<'_> {
        let manifest = TempFile::new("lb.yaml");
        let dev = Running::of(with_hangup(&self.command(&manifest)));
        let url = dev.line_with("driver      http://");
        let port = port(&url);
        let kubeconfig = dev.line_with("export KUBECONFIG=");
        let kubeconfig = PathBuf::from(kubeconfig.split('=').nth(1).unwrap());
        let is_created = |line: &str| line.contains("\"Succ\"");
        while !is_created(&dev.line_with("\"createLoadBalancer\"")) {}
        Session {
            of: self,
            dev,
            port,
            kubeconfig,
            _manifest: manifest,
        }
    }

    fn command(&self, manifest: &TempFile) -> Command {
        let (metadata, lb_spec) = ("metadata: {name: web, namespace: default}", self.lb_spec);
        let api = "apiVersion: lbcf.tkestack.io/v1beta1";
        let spec = format!("spec: {{lbDriver: lbcf-dev, lbSpec: {lb_spec}}}");
        let object = format!("{api}\nkind: LoadBalancer\n{metadata}\n{spec}\n");
        std::fs::write(manifest.path(), object).unwrap();
        let mut command = lbcf(&["dev", "--exec", &self.command, "--apply", manifest.as_str()]);
        (self.prepare)(command.current_dir(&self.folder));
        command
    }

    fn ends_with_its_terminal(&self) {
        let manifest = TempFile::new("lb.yaml");
        let session = self.command(&manifest);
        let mut command = Command::new("python3");
        command.args(["-c", CLOSED_TERMINAL, "createLoadBalancer    Succ"]);
        command.arg(session.get_program()).args(session.get_args());
        (self.prepare)(command.current_dir(&self.folder));
        let Ok(output) = command.output() else {
            return skip("a terminal that is closed, as python3 is not on the PATH");
        };
        let shown = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}: {output:?}", self.name);
        let url = shown
            .lines()
            .find(|line| line.contains("http://localhost:"));
        assert!(!pkill("0", &port(url.unwrap())), "{}: {shown}", self.name);
    }
}

struct Session<'a> {
    of: &'a Language,
    dev: Running,
    port: String,
    kubeconfig: PathBuf,
    _manifest: TempFile,
}

impl Session<'_> {
    #[track_caller]
    fn assert_nothing_is_left(self) {
        let (code, lines) = self.dev.wait();
        let name = self.of.name;
        assert_eq!(code, Some(0), "{name}: {lines:?}");
        let is_deleted =
            |line: &String| line.contains("\"deleteLoadBalancer\"") && line.contains("\"Succ\"");
        assert!(lines.iter().any(is_deleted), "{name}: {lines:?}");
        assert!(!pkill("0", &self.port), "{name}: the driver runs on");
        let folder = self.kubeconfig.parent().unwrap();
        assert!(!folder.exists(), "{name}: {}", folder.display());
    }
}

fn port(line: &str) -> String {
    let after = line.split("http://localhost:").nth(1).unwrap();
    after.chars().take_while(char::is_ascii_digit).collect()
}

/// Sends a signal to the processes of the driver on this port. False if there are none.
fn pkill(signal: &str, port: &str) -> bool {
    let pattern = format!("[: ]{port}$");
    let sent = Command::new("pkill")
        .args([&format!("-{signal}"), "-f", &pattern])
        .status();
    sent.unwrap().success()
}

#[test]
fn exhaustive_dev_follows_a_driver_in_pythons_standard_library() {
    if is_left_to_the_exhaustive_run("ending a driver in six ways takes its time") {
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("python3 is not on the PATH");
    }
    // A copy, so that sources can be changed.
    let copied = TempFile::new("driver");
    std::fs::create_dir(copied.path()).unwrap();
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/conformance/drivers/from-specification"
    );
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            std::fs::copy(&file, copied.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    let language = Language {
        name: "Python",
        folder: copied.path().to_owned(),
        sources: (".py", "#"),
        command: "python3 observer.py --port {port}".to_owned(),
        lb_spec: "{network: net-a}",
        prepare: |_| (),
    };
    language.check();
}
