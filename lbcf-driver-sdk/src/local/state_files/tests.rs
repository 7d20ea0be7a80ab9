use super::*;
use std::path::PathBuf;
use tempfile::{TempDir, tempdir};

type Ports = Vec<u16>;

fn opened() -> (TempDir, StateFiles<Ports>) {
    let dir = tempdir().unwrap();
    let files = StateFiles::open(dir.path(), "cfg").unwrap();
    (dir, files)
}

fn names(dir: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_load_balancer_is_written_read_and_removed_and_nothing_else_is_left() {
    let (dir, files) = opened();
    assert_eq!(files.read("a").await.unwrap(), None);
    for (ports, directives, differs) in [
        (vec![80], "listen 80\n", true),
        (vec![80], "listen 80\n", false),
        (vec![80], "listen 80 # another template\n", true),
        (vec![], "", true),
    ] {
        assert_eq!(files.write("a", &ports, directives).await.unwrap(), differs);
        assert_eq!(files.read("a").await.unwrap().as_ref(), Some(&ports));
        assert_eq!(
            files.read_all().await.unwrap(),
            [("a".to_owned(), ports)].into()
        );
        assert!(
            fs::read_to_string(dir.path().join("lb-a.cfg"))
                .unwrap()
                .ends_with(directives)
        );
    }
    assert_eq!(names(&dir), [".lbcf.lock", "lb-a.cfg"]);
    for _ in 0..2 {
        files.remove("a").await.unwrap();
        assert_eq!(names(&dir), [".lbcf.lock"]);
    }
}

#[tokio::test]
async fn a_kill_in_the_middle_of_a_write_leaves_the_old_file() {
    let (dir, files) = opened();
    files.write("a", &vec![80], "").await.unwrap();
    fs::write(dir.path().join("lb-a.cfg.new"), "# lbcf/1 [8").unwrap();
    assert_eq!(
        files.read_all().await.unwrap(),
        [("a".to_owned(), vec![80])].into()
    );
    assert!(files.write("a", &vec![81], "").await.unwrap());
    assert_eq!(names(&dir), [".lbcf.lock", "lb-a.cfg"]);
}

#[tokio::test]
async fn what_cannot_be_written_leaves_the_old_file() {
    let (dir, files) = opened();
    files.write("a", &vec![80], "").await.unwrap();
    // In the way of the second file.
    fs::create_dir(dir.path().join("lb-a.cfg.new")).unwrap();
    let error = files.write("a", &vec![81], "").await.unwrap_err();
    assert!(error.message().contains("lb-a.cfg: "), "{error}");
    assert_eq!(files.read("a").await.unwrap(), Some(vec![80]));
}

#[tokio::test]
async fn files_that_nobody_can_read_are_errors_that_say_why_and_stop_no_other() {
    let (dir, files) = opened();
    files.write("good", &vec![80], "").await.unwrap();
    for (content, problem) in [
        ("", "has no line that begins with \"# lbcf/1 \""),
        ("listen 80\n", "has no line that begins with \"# lbcf/1 \""),
        (
            "# lbcf/1 [80",
            "the line \"# lbcf/1\": EOF while parsing a list",
        ),
        ("# lbcf/1 {}", "the line \"# lbcf/1\": invalid type: map"),
        (
            "# lbcf/2 [80]",
            "has version \"2\" of the format, and this driver reads 1",
        ),
    ] {
        fs::write(dir.path().join("lb-bad.cfg"), content).unwrap();
        let error = files.read("bad").await.unwrap_err();
        let expected = format!("lb-bad.cfg: {problem}");
        assert!(error.message().contains(&expected), "{error}");
        assert_eq!(
            files.read_all().await.unwrap(),
            [("good".to_owned(), vec![80])].into()
        );
    }
}

#[tokio::test]
async fn a_name_leads_to_no_other_folder() {
    let (_dir, files) = opened();
    for name in ["", "../x", "/etc/passwd", "a\0", "a\\b"] {
        assert!(files.read(name).await.is_err(), "{name:?}");
        assert!(files.write(name, &vec![], "").await.is_err(), "{name:?}");
        assert!(files.remove(name).await.is_err(), "{name:?}");
    }
}

#[test]
fn a_folder_belongs_to_one_driver_until_that_ends() {
    let (dir, files) = opened();
    let error = StateFiles::<Ports>::open(dir.path(), "cfg").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!(
        error.to_string().contains("another driver uses it"),
        "{error}"
    );
    drop(files);
    StateFiles::<Ports>::open(dir.path(), "cfg").unwrap();
    assert!(StateFiles::<Ports>::open(PathBuf::from("/dev/null/x"), "cfg").is_err());
}

#[cfg(unix)]
#[test]
fn a_folder_that_did_not_exist_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempdir().unwrap();
    let folder = dir.path().join("a/b");
    let _files = StateFiles::<Ports>::open(&folder, "cfg").unwrap();
    for folder in [dir.path().join("a"), folder] {
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
    }
}
