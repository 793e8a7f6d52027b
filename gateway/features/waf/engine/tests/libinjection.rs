//! The detectors beside libinjection's verdicts of the same texts.

use gw_waf_engine::injection::{detect_sqli, detect_xss};

const CASES: &str = include_str!("libinjection.txt");

/// Phrases of three and four words that the crate does not join.
const UNKNOWN: [&str; 2] = ["IN BOOLEAN MODE", "LOCK IN SHARE MODE"];

fn decode(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("hexadecimal"));
        bytes.extend_from_slice(part[2..].as_bytes());
    }
    bytes
}

#[test]
fn detectors_agree_with_libinjection() {
    let mut faults = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let (expected, text) = line.split_once(' ').expect("a verdict and a text");
        let bytes = decode(text);
        let sqli = if detect_sqli(&bytes).is_some() { "s" } else { "-" };
        let found = [sqli, if detect_xss(&bytes) { "x" } else { "-" }].concat();
        if found != expected && !UNKNOWN.iter().any(|phrase| text.contains(phrase)) {
            faults.push(format!("{found} instead of {expected}: {text}"));
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}
