use super::*;
use crate::fields::{Attributes, LbSpec, Mode};
use std::collections::BTreeMap;
use std::num::NonZeroU16;

#[tokio::test]
async fn a_file_is_written_read_and_removed_and_nothing_else_is_left() {
    let dir = std::env::temp_dir().join(format!("haproxy-driver-{}", std::process::id()));
    let layout = Layout::new(&dir, Path::new("haproxy"));
    let spec = LbSpec {
        address: [192, 0, 2, 1].into(),
        port: NonZeroU16::MIN.saturating_add(79),
        mode: Mode::Tcp,
    };
    let balancer = Balancer {
        owner: "owner".into(),
        spec,
        attributes: Attributes::default(),
        servers: BTreeMap::new(),
    };
    let listener = balancer.listener();
    assert!(prepare(&layout).is_ok());
    assert!(write(&layout, &balancer).await.is_ok());
    assert_eq!(
        read(&layout, listener).ok().flatten(),
        Some(balancer.clone())
    );
    // A file that nobody can understand stops only itself.
    let broken = layout.conf_d.join("lb-192.0.2.1-81.cfg");
    assert!(std::fs::write(&broken, "# lbcf {").is_ok());
    assert_eq!(read_all(&layout).ok(), Some(vec![balancer]));
    for _ in 0..2 {
        assert!(remove(&layout, listener).await.is_ok());
    }
    let left = std::fs::read_dir(&layout.conf_d).map(|entries| entries.flatten().count());
    assert_eq!(left.ok(), Some(1));
    assert!(std::fs::remove_dir_all(dir).is_ok());
}
