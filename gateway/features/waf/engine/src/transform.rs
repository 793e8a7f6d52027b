//! Transformations of values (`t:` in rules), each as Coraza v3 has it, but for two: `lowercase` and `uppercase` change
//! ASCII letters only, as in ModSecurity, and bytes that are no UTF-8 stay as they are.

pub use crate::vocabulary::Transform;
use crate::best_fit::BEST_FIT;
use crate::digest;
use crate::entities;
use Transform::*;

/// Number of transformations.
pub const COUNT: usize = Transform::ALL.len();

/// Classes of bytes that a value has, as bits. They tell which transformations leave it as it is.
pub mod class {
    pub const UPPER: u32 = 1;
    pub const PERCENT: u32 = 1 << 1;
    pub const PLUS: u32 = 1 << 2;
    pub const BACKSLASH: u32 = 1 << 3;
    pub const AMPERSAND: u32 = 1 << 4;
    pub const NUL: u32 = 1 << 5;
    pub const SPACE: u32 = 1 << 6;
    pub const OTHER_SPACE: u32 = 1 << 7;
    pub const SLASH: u32 = 1 << 8;
    pub const STAR: u32 = 1 << 9;
    pub const DASH: u32 = 1 << 10;
    pub const HASH: u32 = 1 << 11;
    pub const LESS: u32 = 1 << 12;
    pub const HIGH: u32 = 1 << 13;
    pub const QUOTE: u32 = 1 << 14;
    pub const SEPARATOR: u32 = 1 << 15;
    pub const PAREN: u32 = 1 << 16;
    pub const DOT: u32 = 1 << 17;
    pub const EQUALS: u32 = 1 << 18;
    pub const LOWER: u32 = 1 << 19;
    pub const DIGIT: u32 = 1 << 20;
    /// Anything that is no letter, digit or underscore and has no class above.
    pub const REST: u32 = 1 << 21;
    pub const WORD: u32 = UPPER | LOWER | DIGIT | (1 << 22);
}

const CLASSES: [u32; 256] = classes();

const fn classes() -> [u32; 256] {
    let mut table = [class::REST; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'A'..=b'Z' => class::UPPER,
            b'a'..=b'z' => class::LOWER,
            b'0'..=b'9' => class::DIGIT,
            b'_' => 1 << 22,
            b'%' => class::PERCENT,
            b'+' => class::PLUS,
            b'\\' => class::BACKSLASH,
            b'&' => class::AMPERSAND,
            0 => class::NUL,
            b' ' => class::SPACE,
            b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => class::OTHER_SPACE,
            b'/' => class::SLASH,
            b'*' => class::STAR,
            b'-' => class::DASH,
            b'#' => class::HASH,
            b'<' => class::LESS,
            0x80..=0xff => class::HIGH,
            b'"' | b'\'' | b'^' => class::QUOTE,
            b',' | b';' => class::SEPARATOR,
            b'(' => class::PAREN,
            b'.' => class::DOT,
            b'=' => class::EQUALS,
            _ => class::REST,
        };
        byte += 1;
    }
    table
}

pub fn classes_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |classes, &byte| classes | CLASSES[byte as usize])
}

/// Returns the classes without which a value stays as it is; 0 if any value may change.
pub fn needs(transform: Transform) -> u32 {
    use class::*;
    match transform {
        Lowercase => UPPER,
        Uppercase => LOWER,
        UrlDecode | UrlDecodeUni => PERCENT | PLUS,
        JsDecode | CssDecode | EscapeSeqDecode => BACKSLASH,
        HtmlEntityDecode => AMPERSAND,
        RemoveNulls | ReplaceNulls => NUL,
        RemoveWhitespace | CompressWhitespace => SPACE | OTHER_SPACE | HIGH,
        ReplaceComments => SLASH,
        RemoveComments => SLASH | LESS | DASH | HASH,
        RemoveCommentsChar => SLASH | STAR | LESS | DASH | HASH,
        Utf8ToUnicode => HIGH,
        NormalizePath => SLASH | DOT,
        SqlHexDecode => DIGIT,
        CmdLine => UPPER | QUOTE | BACKSLASH | SPACE | OTHER_SPACE | SEPARATOR | SLASH | PAREN,
        Trim | TrimLeft | TrimRight => SPACE | OTHER_SPACE,
        _ => 0,
    }
}

/// Appends the transformed value to `out`.
pub fn apply(transform: Transform, input: &[u8], out: &mut Vec<u8>) {
    match transform {
        Base64Decode => base64_decode(input, out, false),
        Base64DecodeExt => base64_decode(input, out, true),
        Base64Encode => base64_encode(input, out),
        CmdLine => cmd_line(input, out),
        CompressWhitespace => compress_whitespace(input, out),
        CssDecode => css_decode(input, out),
        EscapeSeqDecode => escape_seq_decode(input, out),
        HexDecode => hex_decode(input, out),
        HexEncode => hex_encode(input, out),
        HtmlEntityDecode => html_entity_decode(input, out),
        JsDecode => js_decode(input, out),
        Length => out.extend_from_slice(input.len().to_string().as_bytes()),
        Lowercase => out.extend(input.iter().map(u8::to_ascii_lowercase)),
        Md5 => out.extend_from_slice(&digest::md5(input)),
        Uppercase => out.extend(input.iter().map(u8::to_ascii_uppercase)),
        NormalizePath => normalize_path(input, out),
        NormalizePathWin => normalize_path_win(input, out),
        RemoveComments => remove_comments(input, out),
        RemoveCommentsChar => remove_comments_char(input, out),
        RemoveNulls => out.extend(input.iter().filter(|&&byte| byte != 0)),
        RemoveWhitespace => remove_whitespace(input, out),
        ReplaceComments => replace_comments(input, out),
        ReplaceNulls => out.extend(input.iter().map(|&byte| if byte == 0 { b' ' } else { byte })),
        Sha1 => out.extend_from_slice(&digest::sha1(input)),
        SqlHexDecode => sql_hex_decode(input, out),
        Trim => out.extend_from_slice(trim_left(trim_right(input))),
        TrimLeft => out.extend_from_slice(trim_left(input)),
        TrimRight => out.extend_from_slice(trim_right(input)),
        UrlDecode => url_decode(input, out, false),
        UrlDecodeUni => url_decode(input, out, true),
        UrlEncode => url_encode(input, out),
        Utf8ToUnicode => utf8_to_unicode(input, out),
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

fn trim_left(input: &[u8]) -> &[u8] {
    let start = input.iter().position(|&byte| !is_space(byte)).unwrap_or(input.len());
    &input[start..]
}

fn trim_right(input: &[u8]) -> &[u8] {
    let end = input.iter().rposition(|&byte| !is_space(byte)).map_or(0, |last| last + 1);
    &input[..end]
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// Value of two digits at `at`.
fn hex_pair(input: &[u8], at: usize) -> Option<u8> {
    Some(hex(*input.get(at)?)? << 4 | hex(*input.get(at + 1)?)?)
}

fn base64_decode(input: &[u8], out: &mut Vec<u8>, forgiving: bool) {
    let (mut bits, mut count) = (0u32, 0);
    for &byte in input {
        if forgiving && (is_space(byte) || byte == b'.') || byte == b'\r' || byte == b'\n' {
            continue;
        }
        if byte == b'=' || byte == b' ' {
            break;
        }
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'-' if forgiving => 62,
            b'_' if forgiving => 63,
            _ if forgiving => continue,
            _ => break,
        };
        bits = bits << 6 | u32::from(digit);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    match count {
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&[(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => {}
    }
}

fn base64_encode(input: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in input.chunks(3) {
        let bits = u32::from(chunk[0]) << 16
            | u32::from(*chunk.get(1).unwrap_or(&0)) << 8
            | u32::from(*chunk.get(2).unwrap_or(&0));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { digit } else { b'=' });
        }
    }
}

fn cmd_line(input: &[u8], out: &mut Vec<u8>) {
    let mut space = false;
    for &byte in input {
        match byte {
            b'"' | b'\'' | b'\\' | b'^' => {}
            b' ' | b',' | b';' | b'\t' | b'\r' | b'\n' => {
                if !space {
                    out.push(b' ');
                }
                space = true;
            }
            b'/' | b'(' => {
                if space {
                    out.pop();
                }
                space = false;
                out.push(byte);
            }
            _ => {
                space = false;
                out.push(byte.to_ascii_lowercase());
            }
        }
    }
}

/// Length of the white space that begins here: ASCII, or a character of Latin-1, in UTF-8 or as the bare byte 0xA0.
fn latin_space(input: &[u8]) -> usize {
    match input {
        [first, ..] if is_space(*first) || *first == 0xa0 => 1,
        [0xc2, 0x85 | 0xa0, ..] => 2,
        _ => 0,
    }
}

fn compress_whitespace(input: &[u8], out: &mut Vec<u8>) {
    let (mut at, mut within) = (0, false);
    while at < input.len() {
        let length = latin_space(&input[at..]);
        if length == 0 {
            // A character of several bytes stays whole: its last byte may be 0xA0.
            let size = char_len(&input[at..]);
            out.extend_from_slice(&input[at..at + size]);
            at += size;
            within = false;
        } else {
            if !within {
                out.push(b' ');
            }
            within = true;
            at += length;
        }
    }
}

/// Length of the character that begins here; 1 if it is not valid UTF-8.
fn char_len(input: &[u8]) -> usize {
    if input[0] < 0x80 {
        return 1;
    }
    let size = match input[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return 1,
    };
    match input.get(..size).map(std::str::from_utf8) {
        Some(Ok(_)) => size,
        _ => 1,
    }
}

/// White space of Unicode, and the bare byte 0xA0.
fn remove_whitespace(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        let size = char_len(&input[at..]);
        let char = &input[at..at + size];
        let is_space = match std::str::from_utf8(char) {
            Ok(text) => text.chars().all(char::is_whitespace),
            Err(_) => char == [0xa0],
        };
        if !is_space {
            out.extend_from_slice(char);
        }
        at += size;
    }
}

fn push_char(code: u32, out: &mut Vec<u8>) {
    let char = char::from_u32(code).filter(|_| code != 0).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

fn css_decode(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        if input[at] != b'\\' {
            out.push(input[at]);
            at += 1;
            continue;
        }
        at += 1;
        let Some(&next) = input.get(at) else { break };
        let digits = input[at..].iter().take(6).take_while(|&&byte| hex(byte).is_some()).count();
        if digits > 0 {
            let mut code = input[at..at + digits].iter().fold(0, |code, &byte| code << 4 | u32::from(hex(byte).unwrap_or(0)));
            if (0xff01..=0xff5e).contains(&code) {
                code -= 0xfee0;
            }
            push_char(code, out);
            at += digits;
            if input.get(at).is_some_and(|&byte| is_space(byte)) {
                at += 1;
            }
        } else {
            if next != b'\n' {
                out.push(next);
            }
            at += 1;
        }
    }
}

fn escape_seq_decode(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        let (b'\\', Some(&next)) = (input[at], input.get(at + 1)) else {
            out.push(input[at]);
            at += 1;
            continue;
        };
        if let Some(byte) = control(next) {
            out.push(byte);
            at += 2;
        } else if let (b'x' | b'X', Some(byte)) = (next, hex_pair(input, at + 2)) {
            out.push(byte);
            at += 4;
        } else if matches!(next, b'0'..=b'7') {
            let digits = input[at + 1..].iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let value = input[at + 1..at + 1 + digits].iter().fold(0u32, |value, &byte| value << 3 | u32::from(byte - b'0'));
            out.push(value as u8);
            at += 1 + digits;
        } else {
            out.push(next);
            at += 2;
        }
    }
}

/// Control characters by the letter behind a backslash, and characters that stand for themselves there.
fn control(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => 10,
        b'r' => 13,
        b't' => 9,
        b'v' => 11,
        b'\\' | b'?' | b'\'' | b'"' => letter,
        _ => return None,
    })
}

fn hex_decode(input: &[u8], out: &mut Vec<u8>) {
    let decoded: Option<Vec<u8>> = (0..input.len()).step_by(2).map(|at| hex_pair(input, at)).collect();
    // A value that is not hexadecimal stays as it is.
    out.extend_from_slice(decoded.as_deref().unwrap_or(input));
}

fn hex_encode(input: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in input {
        out.extend_from_slice(&[DIGITS[(byte >> 4) as usize], DIGITS[(byte & 15) as usize]]);
    }
}

fn html_entity_decode(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        if input[at] != b'&' {
            out.push(input[at]);
            at += 1;
            continue;
        }
        let rest = &input[at + 1..];
        if let Some((length, code)) = numeric_entity(rest) {
            push_char(code, out);
            at += 1 + length;
        } else if let Some((length, text)) = named_entity(rest) {
            out.extend_from_slice(text.as_bytes());
            at += 1 + length;
        } else {
            out.push(b'&');
            at += 1;
        }
    }
}

/// Longest name that counts without a semicolon.
const LONGEST_BARE_NAME: usize = 6;

/// Length behind the ampersand, and the characters: those of the whole word if it is a name, else of its longest
/// beginning that is a name without a semicolon.
fn named_entity(rest: &[u8]) -> Option<(usize, &'static str)> {
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let length = letters + usize::from(rest.get(letters) == Some(&b';'));
    let known = |length: usize| {
        let found = entities::NAMES.binary_search_by(|(name, _)| name.as_bytes().cmp(&rest[..length])).ok()?;
        Some((length, entities::NAMES[found].1))
    };
    known(length).or_else(|| (2..=length.saturating_sub(1).min(LONGEST_BARE_NAME)).rev().find_map(known))
}

/// Bytes 0x80 to 0x9F of windows-1252, which browsers read numeric entities as.
const WINDOWS_1252: [u16; 32] = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
];

/// Length behind the ampersand, and the character.
fn numeric_entity(rest: &[u8]) -> Option<(usize, u32)> {
    if rest.first() != Some(&b'#') {
        return None;
    }
    let (start, radix) = if matches!(rest.get(1), Some(b'x' | b'X')) { (2, 16) } else { (1, 10) };
    let digits = rest[start..].iter().take_while(|&&byte| (byte as char).is_digit(radix)).count();
    if digits == 0 {
        return None;
    }
    let code = rest[start..start + digits].iter().fold(0u32, |code, &byte| {
        code.saturating_mul(radix).saturating_add((byte as char).to_digit(radix).unwrap_or(0))
    });
    let code = match code {
        0x80..=0x9f => u32::from(WINDOWS_1252[(code - 0x80) as usize]),
        _ => code,
    };
    let end = start + digits;
    Some((end + usize::from(rest.get(end) == Some(&b';')), code))
}

/// Number of digits of `{H…}`, one to six of them, and their value.
fn braced_code(input: &[u8]) -> Option<(usize, u32)> {
    let inside = input.strip_prefix(b"{")?;
    let digits = inside.iter().take(6).take_while(|&&byte| hex(byte).is_some()).count();
    if digits == 0 || inside.get(digits) != Some(&b'}') {
        return None;
    }
    Some((digits, inside[..digits].iter().fold(0, |code, &byte| code << 4 | u32::from(hex(byte).unwrap_or(0)))))
}

fn js_decode(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        let (b'\\', Some(&next)) = (input[at], input.get(at + 1)) else {
            out.push(input[at]);
            at += 1;
            continue;
        };
        if let (b'u', Some((digits, code))) = (next, braced_code(&input[at + 2..])) {
            let full_width = (0xff01..=0xff5e).contains(&code);
            out.push(if full_width { code as u8 + 0x20 } else { code as u8 });
            at += 4 + digits;
        } else if let (b'u', Some(high), Some(low)) = (next, hex_pair(input, at + 2), hex_pair(input, at + 4)) {
            let full_width = high == 0xff && low > 0 && low < 0x5f;
            out.push(if full_width { low + 0x20 } else { low });
            at += 6;
        } else if let (b'x', Some(byte)) = (next, hex_pair(input, at + 2)) {
            out.push(byte);
            at += 4;
        } else if matches!(next, b'0'..=b'7') {
            let mut digits = input[at + 1..].iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            if digits == 3 && next > b'3' {
                digits = 2;
            }
            let value = input[at + 1..at + 1 + digits].iter().fold(0u32, |value, &byte| value << 3 | u32::from(byte - b'0'));
            out.push(value as u8);
            at += 1 + digits;
        } else {
            out.push(control(next).unwrap_or(next));
            at += 2;
        }
    }
}

fn normalize_path(input: &[u8], out: &mut Vec<u8>) {
    if input.is_empty() {
        return;
    }
    let rooted = input[0] == b'/';
    if rooted {
        out.push(b'/');
    }
    let from = out.len();
    for part in input.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => continue,
            b".." if out.len() > from => {
                // Each byte is looked at once: what is looked at goes, or has two bytes.
                let slash = out[from..].iter().rposition(|&byte| byte == b'/');
                if out[slash.map_or(from, |slash| from + slash + 1)..] != *b".." {
                    out.truncate(slash.map_or(from, |slash| from + slash));
                    continue;
                }
            }
            b".." if rooted => continue,
            _ => {}
        }
        if out.len() > from {
            out.push(b'/');
        }
        out.extend_from_slice(part);
    }
    // A path that names nothing is empty; the slash at the end stays.
    if input.ends_with(b"/") && !(out.is_empty() || out.as_slice() == b"/") {
        out.push(b'/');
    }
}

/// Windows reads `file:stream` as `file`, and leaves out dots and spaces at the end of each part of a path.
fn normalize_path_win(input: &[u8], out: &mut Vec<u8>) {
    let slashes: Vec<u8> = input.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect();
    let mut path = Vec::with_capacity(slashes.len());
    normalize_path(&slashes, &mut path);
    trim_parts(&without_stream(&path), out);
}

fn without_stream(path: &[u8]) -> Vec<u8> {
    let has_drive = path.len() >= 2 && path[1] == b':' && path[0].is_ascii_alphabetic();
    let (drive, path) = path.split_at(if has_drive { 2 } else { 0 });
    let (path, end) = path.strip_suffix(b"/").map_or((path, &b""[..]), |path| (path, b"/"));
    let last = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let colon = path[last..].iter().position(|&byte| byte == b':').map_or(path.len(), |colon| last + colon);
    [drive, &path[..colon], end].concat()
}

fn trim_parts(path: &[u8], out: &mut Vec<u8>) {
    let is_trimmed = |byte: &u8| matches!(byte, b'.' | b' ');
    let is_all_dots = |part: &[u8]| part.iter().all(|&byte| byte == b'.');
    let parts = || path.split(|&byte| byte == b'/');
    if !parts().any(|part| !is_all_dots(part) && part.last().is_some_and(is_trimmed)) {
        out.extend_from_slice(path);
        return;
    }
    let mut first = true;
    for part in parts() {
        let end = part.iter().rposition(|byte| !is_trimmed(byte)).map_or(0, |last| last + 1);
        let kept = if is_all_dots(part) { part } else { &part[..end] };
        // A part of nothing but spaces is none.
        if kept.is_empty() && !part.is_empty() {
            continue;
        }
        if !first {
            out.push(b'/');
        }
        out.extend_from_slice(kept);
        first = false;
    }
}

fn remove_comments(input: &[u8], out: &mut Vec<u8>) {
    let (mut at, mut within) = (0, false);
    while at < input.len() {
        let rest = &input[at..];
        if within {
            if rest.starts_with(b"*/") || rest.starts_with(b"-->") {
                at += if rest[0] == b'*' { 2 } else { 3 };
                within = false;
                out.push(*input.get(at).unwrap_or(&0));
            }
            at += 1;
        } else if rest.starts_with(b"/*") {
            within = true;
            at += 2;
        } else if rest.starts_with(b"<!--") {
            within = true;
            at += 4;
        } else if rest.starts_with(b"--") || rest[0] == b'#' {
            return;
        } else {
            out.push(rest[0]);
            at += 1;
        }
    }
    if within {
        out.push(b' ');
    }
}

fn remove_comments_char(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        let rest = &input[at..];
        let marks: [&[u8]; 6] = [b"/*", b"*/", b"<!--", b"-->", b"--", b"#"];
        match marks.iter().find(|mark| rest.starts_with(mark)) {
            Some(mark) => at += mark.len(),
            None => {
                out.push(rest[0]);
                at += 1;
            }
        }
    }
}

fn replace_comments(input: &[u8], out: &mut Vec<u8>) {
    let (mut at, mut within) = (0, false);
    while at < input.len() {
        let rest = &input[at..];
        if within && rest.starts_with(b"*/") {
            within = false;
            out.push(b' ');
            at += 2;
        } else if !within && rest.starts_with(b"/*") {
            within = true;
            at += 2;
        } else {
            if !within {
                out.push(rest[0]);
            }
            at += 1;
        }
    }
    if within {
        out.push(b' ');
    }
}

fn url_decode(input: &[u8], out: &mut Vec<u8>, unicode: bool) {
    let mut at = 0;
    while at < input.len() {
        match input[at] {
            b'+' => out.push(b' '),
            b'%' => {
                if unicode && matches!(input.get(at + 1), Some(b'u' | b'U')) {
                    if let (Some(high), Some(low)) = (hex_pair(input, at + 2), hex_pair(input, at + 4)) {
                        out.push(best_fit(high, low));
                        at += 6;
                    } else {
                        out.extend_from_slice(&input[at..at + 2]);
                        at += 2;
                    }
                    continue;
                }
                if let Some(byte) = hex_pair(input, at + 1) {
                    out.push(byte);
                    at += 3;
                    continue;
                }
                out.push(b'%');
            }
            byte => out.push(byte),
        }
        at += 1;
    }
}

/// The byte that a server takes for a character of UTF-16: one that looks alike, else its lower half.
fn best_fit(high: u8, low: u8) -> u8 {
    let code = u16::from_be_bytes([high, low]);
    match BEST_FIT.binary_search_by_key(&code, |&(known, _)| known) {
        Ok(found) => BEST_FIT[found].1,
        Err(_) if high == 0xff && low > 0 && low < 0x5f => low + 0x20,
        Err(_) => low,
    }
}

fn url_encode(input: &[u8], out: &mut Vec<u8>) {
    for &byte in input {
        match byte {
            b' ' => out.push(b'+'),
            b'*' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => out.push(byte),
            _ => {
                out.push(b'%');
                hex_encode(&[byte], out);
            }
        }
    }
}

/// Decodes `0x…`, as ModSecurity has it.
fn sql_hex_decode(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        let marked = input[at] == b'0' && matches!(input.get(at + 1), Some(b'x' | b'X'));
        if !marked || hex_pair(input, at + 2).is_none() {
            out.push(input[at]);
            at += 1;
            continue;
        }
        at += 2;
        while let Some(byte) = hex_pair(input, at) {
            out.push(byte);
            at += 2;
        }
    }
}

fn utf8_to_unicode(input: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < input.len() {
        let size = char_len(&input[at..]);
        if input[at] < 0x80 {
            out.push(input[at]);
        } else {
            let code = std::str::from_utf8(&input[at..at + size]).ok().and_then(|text| text.chars().next());
            out.extend_from_slice(format!("%u{:04x}", code.map_or(0xfffd, u32::from)).as_bytes());
        }
        at += size;
    }
}
