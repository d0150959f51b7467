use std::net::IpAddr;

use proptest::prelude::*;

use super::*;

fn rule(text: &str) -> HostRule {
    text.parse().unwrap()
}

#[test]
fn a_name_is_that_name_and_a_star_is_what_is_below() {
    assert!(rule("example.com").names("EXAMPLE.com.", 443));
    assert!(!rule("example.com").names("a.example.com", 443));
    assert!(rule("*.example.com").names("a.b.example.com", 443));
    assert!(!rule("*.example.com").names("example.com", 443));
    assert!(!rule("*.example.com").names("badexample.com", 443));
    assert!(!rule("*.example.com").names(".example.com", 443));
    assert!(rule("example.com:8443").names("example.com", 8443));
    assert!(!rule("example.com:8443").names("example.com", 443));
}

#[test]
fn networks_are_compared_by_their_bits() {
    assert!(rule("10.0.0.0/8").names("10.255.1.2", 1));
    assert!(!rule("10.0.0.0/8").names("11.0.0.1", 1));
    assert!(rule("fd00::/8").lists("fd12::1".parse().unwrap(), 1));
    assert!(rule("127.0.0.1").lists("::ffff:127.0.0.1".parse().unwrap(), 1));
    assert!(rule("[::1]:80").lists("::1".parse().unwrap(), 80));
    assert!(!rule("[::1]:80").lists("::1".parse().unwrap(), 81));
    assert!(rule("0.0.0.0/0").names("8.8.8.8", 1));
}

#[test]
fn what_is_no_host_is_refused() {
    for text in [
        "",
        "*",
        "a b",
        "1.2.3",
        "10.0.0.0/33",
        "::/129",
        "x:99999",
        "a..b",
        "http://x",
        "*.*.x",
        "[::1",
    ] {
        assert!(text.parse::<HostRule>().is_err(), "{text:?}");
    }
}

#[test]
fn private_addresses_are_known_in_every_disguise() {
    for text in [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "0.1.2.3",
        "255.255.255.255",
        "224.0.0.1",
        "198.18.0.1",
        "192.0.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::7f00:1",
        "fec0::1",
    ] {
        assert!(is_private(text.parse::<IpAddr>().unwrap()), "{text}");
    }
    for text in [
        "8.8.8.8",
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ] {
        assert!(!is_private(text.parse::<IpAddr>().unwrap()), "{text}");
    }
}

proptest! {
    #[test]
    fn whatever_can_be_read_is_written_so_that_it_reads_the_same(text in "[a-z*.:/0-9\\[\\]-]{0,20}") {
        if let Ok(rule) = text.parse::<HostRule>() {
            prop_assert_eq!(rule.to_string().parse::<HostRule>().unwrap(), rule);
        }
    }
}
