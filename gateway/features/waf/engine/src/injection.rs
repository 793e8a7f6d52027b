//! The detectors of injections of libinjection, and what they cost.

use crate::transform::class;
use libinjectionrs::Fingerprint;
use memchr::memmem;

/// Units of a byte that the detectors read, in several contexts each.
const DETECT: usize = 16;
/// Units of a word that a detector looks up.
const LOOK_UP: usize = 64;

/// Returns the fingerprint of SQL that gets out of its place; none for other texts.
pub fn detect_sqli(text: &[u8]) -> Option<Fingerprint> {
    let detect = |text: &[u8]| {
        let result = libinjectionrs::detect_sqli(text);
        if result.is_injection() { result.fingerprint } else { None }
    };
    // The crate knows `INTO OUTFILE` in upper case only, where libinjection knows it in any.
    detect(text).or_else(|| detect(&with_upper_into(text)?))
}

/// None if the text has no `into` in lower case.
fn with_upper_into(text: &[u8]) -> Option<Vec<u8>> {
    let mut upper = text.to_ascii_uppercase();
    let places: Vec<usize> = memmem::find_iter(&upper, b"INTO").collect();
    upper.copy_from_slice(text);
    for place in places {
        upper[place..place + 4].make_ascii_uppercase();
    }
    (upper != text).then_some(upper)
}

/// `classes`: those of the text.
pub fn sqli_cost(text: &[u8], classes: u32) -> usize {
    let words = if classes & (class::DOT | class::REST) == 0 { 0 } else { prefix_cost(text) };
    DETECT * text.len() + words
}

pub fn detect_xss(text: &[u8]) -> bool {
    libinjectionrs::detect_xss(text).is_injection()
}

/// `classes`: those of the text.
pub fn xss_cost(text: &[u8], classes: u32) -> usize {
    // The detector skips NUL, once for each name of an attribute that it knows.
    let factor = if classes & class::NUL == 0 { 1 } else { DETECT };
    DETECT * factor * text.len()
}

/// Units of the words that the detector looks up: all before each dot and backquote of a word, from its beginning.
fn prefix_cost(text: &[u8]) -> usize {
    let (mut cost, mut length) = (0usize, 0);
    for &byte in text {
        if matches!(byte, b'.' | b'`') {
            cost = cost.saturating_add(LOOK_UP + length / 2);
        }
        length = if ENDS_WORD.contains(&byte) { 0 } else { length + 1 };
    }
    cost
}

const ENDS_WORD: &[u8] = b" []{}<>:\\?=@!#~+-*/&|^%(),';\t\n\x0b\x0c\r\"\xa0\0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_statements_whatever_their_case() {
        for text in ["1 into outfile 'a'", "1 INTO OUTFILE 'a'", "' Into DumpFile 'a'"] {
            assert!(detect_sqli(text.as_bytes()).is_some(), "{text}");
        }
        assert!(detect_sqli(b"look into the garden").is_none());
    }

    #[test]
    fn charges_for_all_that_is_looked_up() {
        let cost = |text: &[u8]| sqli_cost(text, crate::transform::classes_of(text));
        let (short, long) = ("a.".repeat(100), "a.".repeat(10_000));
        assert!(cost(long.as_bytes()) > 5_000 * cost(short.as_bytes()) / 10);
        assert_eq!(cost(&[b'a'; 1000]), DETECT * 1000);
    }
}
