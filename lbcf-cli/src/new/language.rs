//! The languages of projects: their templates, and the commands that build and run them.

use clap::ValueEnum;
use include_dir::{Dir, File, include_dir};
use std::path::PathBuf;

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// Files whose templates have other names, which cargo and git ignore.
const RENAMED: &[(&str, &str)] = &[
    ("dockerignore", ".dockerignore"),
    ("gitignore", ".gitignore"),
    ("ci.yml", ".github/workflows/ci.yml"),
    ("Cargo.toml.template", "Cargo.toml"),
    ("README.md.template", "README.md"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// With lbcf-driver-sdk
    Rust,
    /// With the standard library
    Go,
    /// With FastAPI
    Python,
    /// With Fastify
    Typescript,
}

/// The stand-in that forwards connections until there is a real load balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The driver itself
    Memory,
    /// `HAProxy` on the same machine, whose configuration the driver writes
    Local,
}

impl Language {
    /// The path of each file in a project, and its template.
    pub(crate) fn templates(self, kind: Kind) -> Vec<(PathBuf, &'static str)> {
        let local = self.folder().join("local");
        let (common, own) = (PathBuf::from("common"), self.folder());
        // Of two for one path, the last is taken.
        let mut folders = vec![common, own.clone()];
        folders.extend((kind == Kind::Local).then(|| local.clone()));
        let mut found: Vec<(PathBuf, &str)> = Vec::new();
        for folder in folders {
            let mut files = Vec::new();
            TEMPLATES
                .get_dir(&folder)
                .into_iter()
                .for_each(|dir| collect(dir, &mut files));
            for file in files {
                let Ok(path) = file.path().strip_prefix(&folder) else {
                    continue;
                };
                if folder == own && path.starts_with("local") {
                    continue;
                }
                let renamed = RENAMED.iter().find(|(from, _)| path.ends_with(from));
                let path = renamed.map_or_else(|| path.to_owned(), |(_, to)| PathBuf::from(to));
                found.retain(|(other, _)| *other != path);
                found.push((path, file.contents_utf8().unwrap_or_default()));
            }
        }
        found
    }

    fn folder(self) -> PathBuf {
        let value = self.to_possible_value();
        PathBuf::from(value.as_ref().map_or("", |it| it.get_name()))
    }

    /// The files that an author fills in first.
    pub(crate) const fn to_fill_in(self) -> &'static str {
        match self {
            Self::Rust => {
                "  src/fields.rs   the fields that users write, as types
  src/driver.rs   the five functions of a driver
  src/cloud.rs    the client of your load balancer's API"
            }
            Self::Go => {
                "  driver.go   the fields that users write, and the functions of a driver
  cloud.go    the client of your load balancer's API"
            }
            Self::Python => {
                "  driver.py   the fields that users write, and the functions of a driver
  cloud.py    the client of your load balancer's API"
            }
            Self::Typescript => {
                "  src/driver.ts   the fields that users write, and the functions of a driver
  src/cloud.ts    the client of your load balancer's API"
            }
        }
    }

    /// The command that builds and tests a project.
    pub(crate) fn test(self, name: &str) -> String {
        match self {
            Self::Rust => "cargo test".to_owned(),
            Self::Go => format!("go build -o bin/{name} . && go test ./..."),
            Self::Python => {
                "python3 -m venv .venv && .venv/bin/pip install --requirement requirements-dev.txt && .venv/bin/pytest"
                    .to_owned()
            }
            Self::Typescript => "npm ci && npm run build && npm test".to_owned(),
        }
    }

    /// The command that runs a driver, with the file that its cloud is kept in: one for each session.
    pub(crate) fn command(self, name: &str) -> String {
        let (program, folder) = match self {
            Self::Rust => (format!("target/debug/{name}"), "target/"),
            Self::Go => (format!("bin/{name}"), "bin/"),
            Self::Python => ("exec .venv/bin/python main.py".to_owned(), ""),
            Self::Typescript => ("exec node dist/main.js".to_owned(), "dist/"),
        };
        format!("{program} --listen 127.0.0.1:{{port}} --cloud-file {folder}cloud-$PPID.json")
    }
}

fn collect(dir: &'static Dir<'_>, into: &mut Vec<&'static File<'static>>) {
    into.extend(dir.files());
    for dir in dir.dirs() {
        collect(dir, into);
    }
}
