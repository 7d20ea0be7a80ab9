//! Files are whole or as they were; streams are written to.

use super::*;

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("lbcf-conformance-{}", uuid::Uuid::new_v4());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn output(format: Format, path: &Path) -> Output {
    Output {
        format,
        path: Some(path.to_owned()),
    }
}

#[test]
fn files_are_replaced() {
    let folder = Folder::new();
    let file = folder.file("report.json");
    for text in ["a long first text", "second"] {
        output(Format::Json, &file).write(text, None).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    assert_eq!(folder.names(), ["report.json"]);
}

#[test]
fn only_the_steps_summary_grows() {
    let folder = Folder::new();
    let file = folder.file("summary.md");
    let other = folder.file("other.md");
    for _ in 0..2 {
        output(Format::Markdown, &file)
            .write("x\n", Some(&file))
            .unwrap();
        output(Format::Markdown, &other)
            .write("x\n", Some(&file))
            .unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\nx\n");
    assert_eq!(fs::read_to_string(&other).unwrap(), "x\n");
    output(Format::Json, &file)
        .write("{}", Some(&file))
        .unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
}

#[test]
fn errors_name_format_and_file_and_leave_nothing() {
    let folder = Folder::new();
    let missing = folder.file("no/report.xml");
    let error = output(Format::Junit, &missing)
        .write("x", None)
        .unwrap_err()
        .to_string();
    let start = format!("cannot write the junit report to {}: ", missing.display());
    assert!(error.starts_with(&start), "{error}");
    let error = output(Format::Yaml, &folder.0)
        .write("x", None)
        .unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::IsADirectory);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn links_stay_and_keep_their_files_modes() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let (file, link) = (folder.file("file"), folder.file("link"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&file, &link).unwrap();
    output(Format::Json, &link).write("new", None).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    symlink(folder.file("nothing"), folder.file("dangling")).unwrap();
    assert!(
        output(Format::Json, &folder.file("dangling"))
            .write("x", None)
            .is_err()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn streams_are_written_to_and_stay() {
    let full = output(Format::Json, Path::new("/dev/full")).write("x", None);
    assert_eq!(full.unwrap_err().source.kind(), ErrorKind::StorageFull);
    output(Format::Json, Path::new("/dev/null"))
        .write("x", None)
        .unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // What is open already, even if it is a file, is not replaced behind the opener's back.
    let folder = Folder::new();
    let file = File::create(folder.file("stdout")).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    let path = PathBuf::from(format!("/proc/self/fd/{fd}"));
    output(Format::Json, &path).write("x", None).unwrap();
    output(Format::Json, &path).write("y", None).unwrap();
    assert_eq!(fs::read_to_string(folder.file("stdout")).unwrap(), "xy");
    assert_eq!(file.metadata().unwrap().len(), 2);
}
