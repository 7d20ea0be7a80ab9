use super::*;

#[test]
fn b45_b46_b47_record_names_are_the_originals_md5() {
    let group = OwnerName::Group("group");
    // Computed with md5sum.
    for (text, name, md5) in [
        (
            "test-load-balancer_web_uid-1_80_TCP",
            pod_record_name("test-load-balancer", "web", "uid-1", 80, "TCP"),
            "e1a1da9d09be38e4ccc1b6cb7f8badfe",
        ),
        (
            "lb_group_1.1.1.1:8080",
            static_record_name("lb", "group", "1.1.1.1:8080"),
            "402941d389bf499b425230a2b37708f0",
        ),
        (
            "lb_group_svc_80_TCP_node-1",
            group.service_record("lb", "svc", (80, "TCP"), "node-1"),
            "59965db4f8df3af4ecb9ef60e2434653",
        ),
    ] {
        assert_eq!(name, md5, "{text}");
    }
}

#[test]
fn b48_u21_a_binds_record_name_is_the_originals_md5_and_there_is_another_that_is_unambiguous() {
    // md5 of "bind-lb-pod-0-10.0.0.1-tcp-80", computed with md5sum.
    let [original, other] = bind_record_names("bind", "lb", "pod-0", "10.0.0.1", "tcp", 80);
    assert_eq!(original, "5d7d3b9a6b47a2866a5820bd0f4399ec");
    assert_ne!(original, other);
    let one = bind_record_names("a-b", "c", "p", "10.0.0.1", "TCP", 80);
    let another = bind_record_names("a", "b-c", "p", "10.0.0.1", "TCP", 80);
    assert_eq!(one[0], another[0], "the original's is ambiguous");
    assert_ne!(one[1], another[1]);
}

#[test]
fn d77_the_names_of_a_binds_records_of_a_service_collide_with_no_others() {
    let bind = OwnerName::Bind("bind");
    // md5 of "Bind/bind/lb/Node/svc/80/TCP/node-1", computed with md5sum.
    assert_eq!(
        bind.service_record("lb", "svc", (80, "TCP"), "node-1"),
        "ad77e0a0ec17b04ff4e0a59e49f75d38"
    );
    // md5 of "Bind/bind/lb/Endpoint/svc/uid-1/10.0.0.1/8080/TCP", computed with md5sum.
    assert_eq!(
        bind.endpoint_record("lb", "svc", "uid-1", "10.0.0.1", (8080, "TCP")),
        "add69196ec3461cf4bfe97fba257e56c"
    );
    // A group and a Bind whose names and load balancers are equal.
    let (group, bind, tcp) = (OwnerName::Group("x"), OwnerName::Bind("x"), (80, "TCP"));
    let others = [
        group.service_record("x", "svc", tcp, "n"),
        group.endpoint_record("x", "svc", "u", "10.0.0.1", tcp),
        bind_record_names("x", "x", "svc", "10.0.0.1", "TCP", 80)[1].clone(),
        bind.service_record("x", "svc", tcp, "n"),
        bind.endpoint_record("x", "svc", "u", "10.0.0.1", tcp),
    ];
    let different: std::collections::BTreeSet<_> = others.iter().collect();
    assert_eq!(different.len(), others.len());
}

#[test]
fn d47_only_equal_maps_have_the_same_digest() {
    let map = |entries: &[(&str, &str)]| -> BTreeMap<String, String> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        entries.iter().map(owned).collect()
    };
    let maps = [
        map(&[]),
        map(&[("a", "")]),
        map(&[("a", "b")]),
        map(&[("ab", "")]),
        map(&[("a", "1:b"), ("b", "")]),
        map(&[("a", ""), ("b", "1:b")]),
    ];
    let digests: std::collections::BTreeSet<_> = maps.iter().map(digest_of).collect();
    assert_eq!(digests.len(), maps.len());
    assert_eq!(digest_of(&maps[1]), digest_of(&maps[1].clone()));
}

#[test]
fn d17_addresses_become_legal_label_values() {
    assert_eq!(address_label("1.1.1.1:8080"), "1.1.1.1_8080");
    assert_eq!(address_label("[2001:db8::1]:80"), "2001_db8__1__80");
    assert_eq!(address_label(r#"{"ip":"1.1.1.1"}"#), "ip___1.1.1.1");
    assert_eq!(address_label("::"), "");
    assert!(address_label(&"a:".repeat(60)).len() <= 63);
}

#[test]
fn b54_b57_the_prefix_decides_the_namespace() {
    assert_eq!(
        resolve("ns", "lbcf-x"),
        ObjectKey::new("kube-system", "lbcf-x")
    );
    assert_eq!(resolve("ns", "x"), ObjectKey::new("ns", "x"));
}

#[test]
fn d72_the_objects_of_a_service_have_short_names_of_their_own() {
    let name = of_service("web", "uid-1", Some((80, "TCP")));
    assert!(
        name.starts_with("svc-web-") && name.ends_with("-80-tcp"),
        "{name}"
    );
    assert_ne!(name, of_service("web", "uid-2", Some((80, "TCP"))));
    assert_ne!(name, of_service("web", "uid-1", Some((80, "UDP"))));
    assert_ne!(name, of_service("web", "uid-1", None));
    // No name is that of a shared object.
    assert!(!of_service("lbcf-web", "u", None).starts_with(SYSTEM_PREFIX));
    for service in [
        "a".repeat(63),
        format!("{}-{}", "a".repeat(27), "b".repeat(35)),
    ] {
        let name = of_service(&service, "uid", Some((65535, "SCTP")));
        assert!(name.len() <= 63 && !name.contains("--"), "{name}");
    }
}

#[test]
fn d26_long_names_become_legal_label_values() {
    let short = "a".repeat(63);
    assert_eq!(label_value(&short), short);
    let long = label_value(&format!("{}.{}", "a".repeat(53), "b".repeat(60)));
    assert!(long.len() <= 63, "{long}");
    assert!(
        long.starts_with(&"a".repeat(53)) && !long.contains(".-"),
        "{long}"
    );
    assert_ne!(label_value(&"c".repeat(64)), label_value(&"c".repeat(65)));
}
