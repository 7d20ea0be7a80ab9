//! Lists of addresses, and every way to write one that is not allowed.

use super::*;

#[test]
fn d106_which_addresses_of_drivers_are_allowed() {
    let api_server = ["10.96.0.1".parse().unwrap()];
    let special = "127.0.0.1 127.8.9.10 ::1 0.0.0.0 :: 169.254.169.254 fe80::1 224.0.0.1 ff02::1 255.255.255.255 10.96.0.1";
    // IPv4 in IPv6: mapped, compatible, NAT64, 6to4.
    let inside =
        "::ffff:127.0.0.1 ::ffff:10.96.0.1 ::127.0.0.1 64:ff9b::169.254.169.254 2002:a9fe:a9fe::1";
    let usual = "10.0.0.1 203.0.113.1 2001:db8::1 fd00::1 ::ffff:10.0.0.1 64:ff9b::203.0.113.1";
    let mixed = "https://any,10.1.0.0/16,http://127.0.0.1,https://2001:db8::/32";
    for (list, scheme, allowed, refused) in [
        ("", "https", "", "10.0.0.1 ::1"),
        ("any", "http", usual, special),
        ("any", "https", usual, inside),
        (EVERYTHING, "http", special, ""),
        ("any,10.96.0.1", "http", "10.96.0.1", "127.0.0.1"),
        (mixed, "http", "10.1.2.3 127.0.0.1", "10.2.0.1 2001:db8::1"),
        (mixed, "https", "10.1.2.3 10.2.0.1", "127.0.0.1 10.96.0.1"),
    ] {
        let addresses: DriverAddresses = list.parse().unwrap();
        for (texts, expected) in [(allowed, true), (refused, false)] {
            for text in texts.split_whitespace() {
                let address = text.parse().unwrap();
                let is_allowed = addresses.allow(scheme, address, &api_server);
                assert_eq!(is_allowed, expected, "{list}: {scheme} {text}");
            }
        }
    }
    for wrong in [
        "driver.example",
        "*",
        "ftp://any",
        "10.0.0.0/33",
        "https://",
    ] {
        let error = wrong.parse::<DriverAddresses>().unwrap_err();
        assert!(error.contains(": must be any, an address"), "{error}");
    }
}
