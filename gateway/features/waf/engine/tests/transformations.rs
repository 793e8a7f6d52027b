//! Transformations against what Coraza makes of the same texts: `test/waf/write-transformations.ts` writes the cases.

use gw_waf_engine::transform::{self, Transform};

const CASES: &str = include_str!("transformations.txt");
/// Coraza does not have it.
const UNKNOWN: Transform = Transform::SqlHexDecode;

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hexadecimal")).collect()
}

/// Texts that the engine handles in another way than Coraza, on purpose.
fn differs(transform: Transform, input: &[u8], coraza: &[u8]) -> bool {
    match transform {
        // Coraza doubles the slash of the root; ModSecurity does not.
        Transform::NormalizePath | Transform::NormalizePathWin => coraza == b"//",
        // ASCII letters only, as in ModSecurity.
        Transform::Lowercase | Transform::Uppercase => !input.is_ascii(),
        // Coraza replaces bytes that are no UTF-8.
        Transform::RemoveWhitespace => std::str::from_utf8(input).is_err(),
        _ => false,
    }
}

#[test]
fn transformations_agree_with_coraza() {
    let mut faults = Vec::new();
    for line in CASES.lines() {
        let mut words = line.split(' ');
        let input = from_hex(words.next().expect("a text").trim_matches('\''));
        let changed: Vec<(&str, &str)> = words.filter_map(|word| word.split_once(':')).collect();
        for &transform in Transform::ALL {
            let result = changed.iter().find(|(name, _)| *name == transform.name());
            let expected = result.map_or(input.clone(), |(_, hex)| from_hex(hex));
            if transform == UNKNOWN || differs(transform, &input, &expected) {
                continue;
            }
            let mut found = Vec::new();
            transform::apply(transform, &input, &mut found);
            let needs = transform::needs(transform);
            let is_left_alone = needs != 0 && transform::classes_of(&input) & needs == 0;
            if found != expected || is_left_alone && expected != input {
                let text = String::from_utf8_lossy(&input);
                faults.push(format!("{}({text:?}): {:?}, Coraza {:?}", transform.name(), String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected)));
            }
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}
