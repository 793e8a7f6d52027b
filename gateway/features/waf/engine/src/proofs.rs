//! What the description of an operation proves of a request: which names its author has chosen, which of them have values
//! of a harmless form, and which segments of the path are literals. All is compared with the request here, so that a proof
//! holds whether or not the gateway has validated the request.

use crate::body::is_number;
use crate::frame::Reader;
use crate::meter::Meter;
use crate::rules::{Operator, Transform, Variable};
use std::borrow::Cow;

/// Units of a comparison of names.
const COMPARE: usize = 4;
/// Path of a body in JSON, in which indexes are `*`.
const JSON: &[u8] = b"json.";
/// Bytes of a set of bytes.
const BITS: usize = 32;

enum Form<'a> {
    /// Bytes that follow a template, as bits; the longest length of both.
    Bytes { bits: &'a [u8], longest: usize, template: &'a [u8] },
    /// Texts, each with its length before it.
    Texts(&'a [u8]),
    /// Numbers of JSON of at most so many bytes, without an exponent.
    Number(usize),
    /// Values of any form.
    Any,
}

impl<'a> Form<'a> {
    fn read(kind: u32, data: &'a [u8]) -> Option<Form<'a>> {
        let mut rest = Reader(data);
        Some(match kind {
            0 => {
                let (bits, data) = data.split_at_checked(BITS)?;
                rest.0 = data;
                Form::Bytes { bits, longest: rest.number()? as usize, template: rest.0 }
            }
            1 => Form::Texts(data),
            2 => Form::Number(rest.number()? as usize),
            3 => Form::Any,
            _ => return None,
        })
    }

    fn has(&self, value: &[u8], meter: &Meter) -> bool {
        match *self {
            Form::Any => false,
            Form::Bytes { bits, longest, template } => {
                if value.len() > longest || value.len() < template.len() || !meter.charge(value.len()) {
                    return false;
                }
                let (first, rest) = value.split_at(template.len());
                let is_allowed = |byte: &u8| bits[usize::from(byte / 8)] & 1 << (byte % 8) != 0;
                first.iter().zip(template).all(|(&byte, &sample)| fits(byte, sample)) && rest.iter().all(is_allowed)
            }
            Form::Texts(texts) => meter.charge(texts.len()) && has_text(texts, value),
            Form::Number(longest) => value.len() <= longest && meter.charge(value.len()) && is_number(value) && !has_exponent(value),
        }
    }
}

/// A byte of a template: a digit, a digit of base 16, or the byte itself in either case.
fn fits(byte: u8, sample: u8) -> bool {
    match sample {
        b'0' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => byte.eq_ignore_ascii_case(&sample),
    }
}

struct Proof<'a> {
    variable: Variable,
    name: &'a [u8],
    form: Form<'a>,
}

impl Proof<'_> {
    fn place(&self) -> (usize, &[u8]) {
        (self.variable as usize, self.name)
    }
}

/// What is proved of an argument, header or cookie.
#[derive(Clone, Copy, Default)]
pub struct Proved {
    /// The description has the name.
    pub name: bool,
    /// The value has the harmless form that goes with the name.
    pub value: bool,
}

#[derive(Default)]
pub struct Proofs<'a> {
    /// In the order of their variables and names.
    names: Vec<Proof<'a>>,
    /// Segments of the path template; empty for those with parameters.
    segments: Vec<&'a [u8]>,
}

impl<'a> Proofs<'a> {
    /// Reads a list of names (variable, name, kind of the form, the form; kinds are 0: bytes, 1: texts, 2: numbers, 3: any)
    /// and a list of segments. Returns None if they are damaged or the names are unsorted.
    pub fn read(reader: &mut Reader<'a>) -> Option<Proofs<'a>> {
        let count = reader.number()?;
        let names = (0..count).map(|_| Self::proof(reader)).collect::<Option<Vec<_>>>()?;
        let count = reader.number()?;
        let segments = (0..count).map(|_| reader.text()).collect::<Option<Vec<_>>>()?;
        names.is_sorted_by(|a, b| a.place() < b.place()).then_some(Proofs { names, segments })
    }

    fn proof(reader: &mut Reader<'a>) -> Option<Proof<'a>> {
        let variable = *Variable::ALL.get(reader.number()? as usize)?;
        let name = reader.text()?;
        let kind = reader.number()?;
        Some(Proof { variable, name, form: Form::read(kind, reader.text()?)? })
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.segments.is_empty()
    }

    pub fn prove(&self, variable: Variable, name: &[u8], value: &[u8], meter: &Meter) -> Proved {
        if self.names.is_empty() {
            return Proved::default();
        }
        meter.charge(COMPARE * (self.names.len().ilog2() as usize + 1) + name.len());
        let name = declared(variable, name);
        let place = (variable as usize, name.as_ref());
        let Ok(at) = self.names.binary_search_by(|proof| proof.place().cmp(&place)) else { return Proved::default() };
        Proved { name: true, value: !value.is_empty() && self.names[at].form.has(value, meter) }
    }

    /// Returns a path without the segments that are literals of the template; the empty text if all are literals. Returns
    /// None if the path does not follow the template.
    pub fn without_literals(&self, path: &[u8]) -> Option<Vec<u8>> {
        let segments = path.strip_prefix(b"/")?.split(|&byte| byte == b'/');
        if self.segments.is_empty() || segments.clone().count() != self.segments.len() {
            return None;
        }
        let mut out = Vec::new();
        for (segment, &literal) in segments.zip(&self.segments) {
            if literal.is_empty() {
                out.push(b'/');
                out.extend_from_slice(segment);
            } else if segment != literal {
                return None;
            }
        }
        Some(out)
    }

    /// Reports whether the last segment of the template is a literal.
    pub fn ends_with_literal(&self) -> bool {
        self.segments.last().is_some_and(|segment| !segment.is_empty())
    }
}

fn has_text(texts: &[u8], value: &[u8]) -> bool {
    let mut reader = Reader(texts);
    while let Some(text) = reader.text() {
        if text == value {
            return true;
        }
    }
    false
}

/// The name as proofs have it.
fn declared(variable: Variable, name: &[u8]) -> Cow<'_, [u8]> {
    match variable {
        Variable::RequestHeaders if name.iter().any(u8::is_ascii_uppercase) => name.to_ascii_lowercase().into(),
        Variable::ArgsPost if name.starts_with(JSON) && name.iter().any(u8::is_ascii_digit) => {
            let is_index = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
            let parts: Vec<&[u8]> = name.split(|&byte| byte == b'.').collect();
            let parts: Vec<&[u8]> = parts.iter().map(|part| if is_index(part) { b"*" } else { *part }).collect();
            parts.join(&b'.').into()
        }
        _ => name.into(),
    }
}

/// Values of these variables can be proved.
pub fn is_provable(variable: Variable) -> bool {
    use Variable::*;
    matches!(
        variable,
        Args | ArgsNames
            | ArgsGet
            | ArgsGetNames
            | ArgsPost
            | ArgsPostNames
            | RequestBasename
            | RequestCookies
            | RequestCookiesNames
            | RequestFilename
            | RequestHeaders
            | RequestHeadersNames
    )
}

/// Reports whether an operator looks for what a text contains. Others look at its size, at its bytes, or at whether it is
/// equal to another text.
pub fn looks_for_content(operator: &Operator) -> bool {
    use Operator::*;
    matches!(
        operator,
        Rx(_) | Pm(_) | DetectSqli | DetectXss | Contains(_) | ContainsWord(_) | BeginsWith(_) | EndsWith(_)
    )
}

/// Reports whether a transformation leaves harmless text harmless: it removes bytes, changes their case, or decodes what
/// begins with a byte that no form of bytes has.
pub fn keeps_harmless(transform: Transform) -> bool {
    use Transform::*;
    matches!(
        transform,
        CmdLine
            | CompressWhitespace
            | CssDecode
            | EscapeSeqDecode
            | HtmlEntityDecode
            | JsDecode
            | Lowercase
            | NormalizePath
            | NormalizePathWin
            | RemoveComments
            | RemoveCommentsChar
            | RemoveNulls
            | RemoveWhitespace
            | ReplaceComments
            | ReplaceNulls
            | Trim
            | TrimLeft
            | TrimRight
            | Uppercase
            | UrlDecode
            | UrlDecodeUni
            | Utf8ToUnicode
    )
}

fn has_exponent(number: &[u8]) -> bool {
    number.iter().any(|byte| byte.eq_ignore_ascii_case(&b'e'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(out: &mut Vec<u8>, value: &[u8]) {
        out.extend_from_slice(&(value.len() as u32).to_le_bytes());
        out.extend_from_slice(value);
    }

    fn proof(out: &mut Vec<u8>, variable: Variable, name: &str, kind: u32, data: &[u8]) {
        out.extend_from_slice(&(variable as u32).to_le_bytes());
        text(out, name.as_bytes());
        out.extend_from_slice(&kind.to_le_bytes());
        text(out, data);
    }

    fn bytes(allowed: &[u8], longest: u32, template: &[u8]) -> Vec<u8> {
        let mut data = vec![0; BITS];
        for &byte in allowed {
            data[usize::from(byte / 8)] |= 1 << (byte % 8);
        }
        data.extend_from_slice(&longest.to_le_bytes());
        data.extend_from_slice(template);
        data
    }

    fn texts(values: &[&str]) -> Vec<u8> {
        let mut data = Vec::new();
        for value in values {
            text(&mut data, value.as_bytes());
        }
        data
    }

    fn frame(count: u32, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = count.to_le_bytes().to_vec();
        write(&mut out);
        out.extend_from_slice(&0_u32.to_le_bytes());
        out
    }

    fn meter() -> Meter {
        Meter::new(1 << 20)
    }

    #[test]
    fn hold_for_names_and_forms() {
        let digits = bytes(b"0123456789-", 4, b"");
        let frame = frame(8, |out| {
            proof(out, Variable::ArgsGet, "id", 0, &bytes(b"", 9, b"xxxx-0000"));
            proof(out, Variable::ArgsGet, "limit", 2, &40_u32.to_le_bytes());
            proof(out, Variable::ArgsGet, "page", 0, &digits);
            proof(out, Variable::ArgsGet, "sort", 1, &texts(&["asc", "1' or '1'='1"]));
            proof(out, Variable::ArgsGet, "time", 0, &bytes(b"0123456789.Z", 20, b"00t"));
            proof(out, Variable::ArgsPost, "json.items.*.name", 3, &[]);
            proof(out, Variable::ArgsPost, "json.items.*.price", 0, &digits);
            proof(out, Variable::RequestHeaders, "x-count", 0, &digits);
        });
        let proofs = Proofs::read(&mut Reader(&frame)).expect("proofs");
        let prove = |variable, name: &str, value: &str| proofs.prove(variable, name.as_bytes(), value.as_bytes(), &meter());
        let hold = |variable, name: &str, value: &str| prove(variable, name, value).value;
        assert!(hold(Variable::ArgsGet, "page", "-123"));
        assert!(!hold(Variable::ArgsGet, "page", ""));
        assert!(!hold(Variable::ArgsGet, "page", "12345"));
        assert!(!hold(Variable::ArgsGet, "page", "1'"));
        assert!(!hold(Variable::ArgsGet, "Page", "1"));
        assert!(!hold(Variable::ArgsPost, "page", "1"));
        assert!(hold(Variable::ArgsGet, "id", "a0F1-1234"));
        assert!(!hold(Variable::ArgsGet, "id", "a0F1-123"));
        assert!(!hold(Variable::ArgsGet, "id", "a0F1-123a"));
        assert!(!hold(Variable::ArgsGet, "id", "a0F1-12345"));
        assert!(hold(Variable::ArgsGet, "time", "12T59.5Z"));
        assert!(!hold(Variable::ArgsGet, "time", "12T--"));
        assert!(["0", "-1.5", "120"].iter().all(|number| hold(Variable::ArgsGet, "limit", number)));
        assert!(!["1-1", "--1", "1.", "0x1", "1 or 1", &"1".repeat(41)].iter().any(|text| hold(Variable::ArgsGet, "limit", text)));
        assert!(hold(Variable::ArgsGet, "sort", "1' or '1'='1"));
        assert!(!hold(Variable::ArgsGet, "sort", "1' or '1'='"));
        assert!(hold(Variable::ArgsPost, "json.items.12.price", "1"));
        assert!(!hold(Variable::ArgsPost, "json.items.a.price", "1"));
        assert!(!hold(Variable::ArgsPost, "json.items..price", "1"));
        assert!(hold(Variable::RequestHeaders, "X-Count", "1"));
        assert!(!hold(Variable::ArgsPost, "json.items.12.name", "1"));
        assert!(prove(Variable::ArgsPost, "json.items.12.name", "1").name);
        assert!(prove(Variable::ArgsGet, "page", "1'").name);
        assert!(!prove(Variable::ArgsPost, "json.items.12.names", "1").name);
        assert!(!prove(Variable::ArgsPost, "page", "1").name);
    }

    #[test]
    fn hold_for_nothing_past_the_budget() {
        let frame = frame(1, |out| proof(out, Variable::ArgsGet, "page", 0, &bytes(b"1", 40, b"")));
        let proofs = Proofs::read(&mut Reader(&frame)).expect("proofs");
        assert!(!proofs.prove(Variable::ArgsGet, b"page", b"1111", &Meter::new(8)).value);
    }

    #[test]
    fn literals_of_the_path_are_left_out() {
        let template = |segments: &[&'static str]| Proofs { names: Vec::new(), segments: segments.iter().map(|each| each.as_bytes()).collect() };
        let left = |segments: &[&'static str], path: &str| template(segments).without_literals(path.as_bytes());
        assert_eq!(left(&["users.profile.get"], "/users.profile.get"), Some(vec![]));
        assert_eq!(left(&["users", "", "profile"], "/users/4 2/profile"), Some(b"/4 2".to_vec()));
        assert_eq!(left(&["users", "", ""], "/users/42/.profile"), Some(b"/42/.profile".to_vec()));
        assert_eq!(left(&["users", ""], "/Users/42"), None);
        assert_eq!(left(&["users", ""], "/users/4/2"), None);
        assert_eq!(left(&["users", ""], "users/4"), None);
        assert_eq!(left(&[], "/"), None);
        assert!(template(&["", "a"]).ends_with_literal());
        assert!(!template(&["a", ""]).ends_with_literal());
    }

    #[test]
    fn refuses_damaged_ones() {
        let read = |bytes: &[u8]| Proofs::read(&mut Reader(bytes)).is_some();
        assert!(read(&frame(0, |_| ())));
        let whole = frame(1, |out| proof(out, Variable::ArgsGet, "a", 0, &bytes(b"1", 1, b"")));
        assert!(read(&whole));
        assert!((0..whole.len()).all(|length| !read(&whole[..length])));
        let unsorted = frame(2, |out| {
            proof(out, Variable::ArgsGet, "b", 1, &[]);
            proof(out, Variable::ArgsGet, "a", 1, &[]);
        });
        assert!(!read(&unsorted));
        assert!(!read(&frame(1, |out| proof(out, Variable::ArgsGet, "a", 4, &[]))));
    }

    #[test]
    fn no_transformation_makes_new_bytes_of_harmless_ones() {
        let samples: [&[u8]; 6] =
            [b"1e+5", b"-12.75E-3", b"2026-11-28T12:00:00.5Z", b"b2c7c5f0-6f7a-4d7b-9d8e-3f1c2a4b5d6e", b"a_B--9..0", b"+1+1"];
        for &transform in Transform::ALL.iter().filter(|&&transform| keeps_harmless(transform)) {
            for sample in samples {
                let mut out = Vec::new();
                crate::transform::apply(transform, sample, &mut out);
                let is_known = |byte: &u8| *byte == b' ' || sample.iter().any(|known| known.eq_ignore_ascii_case(byte));
                assert!(out.iter().all(is_known), "{transform:?} of {}", String::from_utf8_lossy(sample));
            }
        }
    }
}
