//! Which of the languages on offer a caller wants most (RFC 9110, section 12.5.4; RFC 4647, section 3.3.1).

/// Index of the language that `accept` (a value of `Accept-Language`) prefers; `None` where it wants none of them.
/// Of equal ones the first on offer.
pub fn preferred<'a>(accept: &[u8], offered: impl Iterator<Item = &'a [u8]>) -> Option<usize> {
    let mut best = None;
    let mut most = 0;
    for (index, language) in offered.enumerate() {
        let weight = weight_of(accept, language);
        if weight > most {
            most = weight;
            best = Some(index);
        }
    }
    best
}

/// In thousandths, by the longest range that fits: `de-CH` says more about `de-CH` than `de` or `*`.
fn weight_of(accept: &[u8], language: &[u8]) -> u32 {
    let mut longest = 0;
    let mut weight = 0;
    for entry in accept.split(|byte| *byte == b',') {
        let mut parts = entry.split(|byte| *byte == b';');
        let range = parts.next().unwrap_or_default().trim_ascii();
        let length = if range == b"*" { 1 } else { range.len() + 1 };
        if range.is_empty() || length <= longest || !fits(range, language) {
            continue;
        }
        longest = length;
        weight = parts.find_map(|part| part.trim_ascii().strip_prefix(b"q=")).map_or(1000, thousandths);
    }
    weight
}

fn fits(range: &[u8], language: &[u8]) -> bool {
    if range == b"*" {
        return true;
    }
    let Some(head) = language.get(..range.len()) else { return false };
    head.eq_ignore_ascii_case(range) && matches!(language.get(range.len()), None | Some(b'-'))
}

/// `0.5` as 500; what is no weight counts as none.
fn thousandths(text: &[u8]) -> u32 {
    let mut parts = text.split(|byte| *byte == b'.');
    let whole = match parts.next() {
        Some(b"1") => 1000,
        Some(b"0") => 0,
        _ => return 0,
    };
    let mut unit = 100;
    let mut sum = whole;
    for byte in parts.next().unwrap_or_default().iter().take(3) {
        if !byte.is_ascii_digit() {
            return 0;
        }
        sum += u32::from(byte - b'0') * unit;
        unit /= 10;
    }
    sum.min(1000)
}
