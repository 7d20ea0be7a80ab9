use super::*;
use crate::fields::{Attributes, Mode, Number};

#[tokio::test]
async fn a_file_is_written_read_and_removed_and_nothing_else_is_left() {
    let dir = std::env::temp_dir().join(format!("haproxy-driver-{}", std::process::id()));
    let layout = Layout::new(&dir, "haproxy");
    let port = Number::new(80).unwrap_or_default();
    let spec = LbSpec {
        address: [192, 0, 2, 1].into(),
        port,
        mode: Mode::Tcp,
    };
    let balancer = Balancer::new("owner".into(), spec.clone(), Attributes::default());
    assert!(prepare(&layout).is_ok());
    assert!(write_balancer(&layout, &balancer).await.is_ok());
    assert_eq!(read(&layout, &spec).ok().flatten(), Some(balancer.clone()));
    // A file that nobody can understand stops only itself.
    let broken = layout.conf_d().join("lb-192.0.2.1-81.cfg");
    assert!(fs::write(&broken, "# lbcf {").is_ok());
    assert_eq!(read_all(&layout).ok(), Some(vec![balancer]));
    for _ in 0..2 {
        assert!(remove(&layout, &spec).await.is_ok());
    }
    let left = fs::read_dir(layout.conf_d()).map(|entries| entries.flatten().count());
    assert_eq!(left.ok(), Some(1));
    assert!(fs::remove_dir_all(dir).is_ok());
}
