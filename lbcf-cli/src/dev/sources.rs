//! Which files a driver consists of, by `--watch` or by the command that starts it.

use super::args::DevArgs;
use super::watch::folder_of;
use crate::shell;
use ignore::WalkBuilder;
use ignore::types::{Types, TypesBuilder};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The files of a folder that are watched unless `--watch` names it, as ripgrep names their types: a driver may write
/// others itself.
const SOURCES: [&str; 16] = [
    "c", "cpp", "csharp", "elixir", "go", "java", "js", "kotlin", "lua", "php", "py", "ruby",
    "rust", "scala", "swift", "ts",
];
/// Written by tools, and not always in a `.gitignore`.
const WRITTEN_BY_TOOLS: [&str; 3] = ["__pycache__", "node_modules", "target"];

/// Files and folders, after whose change the driver is started again.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    paths: Vec<PathBuf>,
    types: Types,
    /// For a file in a folder, as it is named to people.
    noun: &'static str,
}

impl Sources {
    /// # Errors
    /// A path of `--watch` that cannot be used.
    pub(super) fn of(args: &DevArgs) -> Result<Self, String> {
        for path in &args.watch {
            // That of a folder can be opened, too.
            File::open(path).map_err(|error| format!("--watch {}: {error}", path.display()))?;
        }
        if !args.watch.is_empty() {
            return Ok(Self {
                paths: args.watch.clone(),
                types: Types::empty(),
                noun: "file",
            });
        }
        let mut types = TypesBuilder::new();
        types.add_defaults();
        SOURCES.iter().for_each(|source| {
            types.select(source);
        });
        let types = types.build().map_err(|error| error.to_string())?;
        let command = args.exec.as_deref().unwrap_or_default();
        Ok(Self {
            paths: of_command(command, &types),
            types,
            noun: "source file",
        })
    }

    /// The files, and the folders in which others may appear.
    pub(super) fn list(&self) -> Vec<PathBuf> {
        let missing = self.paths.iter().filter(|path| !path.exists()).cloned();
        let mut listed: Vec<_> = missing.collect();
        let Some((first, others)) = self.paths.split_first() else {
            return listed;
        };
        let mut walk = WalkBuilder::new(first);
        others.iter().for_each(|path| {
            walk.add(path);
        });
        let walk = walk
            .types(self.types.clone())
            .require_git(false)
            .filter_entry(|entry| {
                let is_written = |name: &&str| entry.file_name() == *name;
                entry.depth() == 0 || !WRITTEN_BY_TOOLS.iter().any(is_written)
            });
        let found = walk.build().flatten();
        listed.extend(found.map(ignore::DirEntry::into_path));
        listed
    }

    /// When the driver is started again, for people; empty if never.
    pub(super) fn describe(&self) -> String {
        let shown = self.paths.iter().map(|path| {
            let name = shell::quote(&path.to_string_lossy());
            match path.is_dir() {
                true => format!("a {} in {name}", self.noun),
                false => name,
            }
        });
        shown.collect::<Vec<_>>().join(" or ")
    }
}

/// The source file that the command names, with those beside it; or its program, if that is given by its path. A script
/// and what is found on the PATH, such as `go run .`, have their sources in the current folder,
/// and so has what a command builds before it runs it.
fn of_command(command: &str, sources: &Types) -> Vec<PathBuf> {
    let words = shlex::split(command).unwrap_or_default();
    let mut words = words.iter().skip_while(|word| is_before_program(word));
    let Some(program) = words.next() else {
        return Vec::new();
    };
    if program != "cd" && words.clone().any(|word| word == "&&") {
        // What the command builds itself is written by each start.
        return vec![PathBuf::from(".")];
    }
    let mut files = std::iter::once(program).chain(words).map(PathBuf::from);
    let is_source = |it: &PathBuf| it.is_file() && sources.matched(it, false).is_whitelist();
    if let Some(source) = files.find(is_source) {
        return vec![folder_of(&source), source];
    }
    let mut watched = Vec::new();
    let is_path = program.contains('/');
    if is_path {
        // It may still have to be built.
        watched.push(PathBuf::from(program));
    }
    if !is_path || is_text(Path::new(program)) {
        watched.push(PathBuf::from("."));
    }
    watched
}

/// True for what may stand before a program: `PORT=80 exec env A=b program`.
fn is_before_program(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    ["exec", "env"].contains(&word) || name.is_some_and(|it| it.chars().all(is_part))
}

fn is_text(file: &Path) -> bool {
    let mut beginning = [0; 1024];
    let read = File::open(file).and_then(|mut file| file.read(&mut beginning));
    read.is_ok_and(|read| !beginning[..read].contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_by_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(path("dri ver"), "\u{7f}ELF\0").unwrap();
        std::fs::write(path("driver.py"), "print()").unwrap();
        std::fs::write(path("run"), "#!/bin/sh").unwrap();
        let (program, source, script) = (path("dri ver"), path("driver.py"), path("run"));
        let own = folder.path().to_string_lossy();
        let beside = vec![&*own, &*source];
        for (command, expected) in [
            (
                format!("'{program}' --port {{port}} {own}"),
                vec![&*program],
            ),
            (
                format!("A=1 exec env B_2='x y' '{program}'"),
                vec![&program],
            ),
            (format!("exec {source} {{port}}"), beside.clone()),
            (format!("python3 -u {source} {program}"), beside.clone()),
            (format!("'{program}' {source}"), beside),
            (format!("{script} {{port}}"), vec![&script, "."]),
            ("go run . --port {port}".to_owned(), vec!["."]),
            ("PORT={port} cargo run".to_owned(), vec!["."]),
            (format!("npm run build && node {source}"), vec!["."]),
            (format!("cd / && node {source}"), vec![&*own, &*source]),
            ("/not/yet/built".to_owned(), vec!["/not/yet/built"]),
            ("an 'open quote".to_owned(), vec![]),
            (String::new(), vec![]),
        ] {
            let args = ["dev", "--exec", &command];
            let found = Sources::of(&parsed(&args)).unwrap().paths;
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{command}");
        }
    }

    #[test]
    fn what_tools_and_drivers_write_is_no_source() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            (".gitignore", "generated.py"),
            ("driver.py", ""),
            ("generated.py", ""),
            ("state.json", ""),
            ("more/deep/wire.go", ""),
            ("node_modules/express/index.js", ""),
            ("__pycache__/driver.py", ""),
            (".git/hook.py", ""),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = |args: &[&str]| {
            let args = [&["dev", "--exec", "true {port}"], args].concat();
            let mut sources = Sources::of(&parsed(&args)).unwrap();
            sources.paths = vec![folder.path().to_owned()];
            let names = sources.list().into_iter().filter(|path| path.is_file());
            let names = names.map(|file| {
                let name = file.strip_prefix(folder.path()).unwrap();
                name.to_string_lossy().into_owned()
            });
            let mut names: Vec<_> = names.collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(found(&[]), "driver.py more/deep/wire.go");
        let all = "driver.py more/deep/wire.go state.json";
        assert_eq!(found(&["--watch", "."]), all);
    }

    fn parsed(args: &[&str]) -> DevArgs {
        #[derive(clap::Parser)]
        struct Command {
            #[command(flatten)]
            args: DevArgs,
        }
        <Command as clap::Parser>::parse_from(args).args
    }
}
