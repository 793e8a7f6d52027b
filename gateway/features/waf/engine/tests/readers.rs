//! Readers of bodies and cookies, and a whole inspection, over texts of a fixed sequence: none panics, each takes time
//! linear in its text, and none goes past its budget.

use gw_waf_engine::body::{self, Sink};
use gw_waf_engine::rules::RuleSet;
use gw_waf_engine::transaction::{Options, Request, Transaction};
use std::time::{Duration, Instant};

/// What a reader has found.
#[derive(Default)]
struct Found {
    values: usize,
    bytes: usize,
}

impl Found {
    fn add(&mut self, texts: &[&[u8]]) {
        self.values += 1;
        self.bytes += texts.iter().map(|text| text.len()).sum::<usize>();
    }
}

impl Sink for Found {
    fn argument(&mut self, name: &[u8], value: &[u8]) {
        self.add(&[name, value]);
    }
    fn part_header(&mut self, part: &[u8], line: &[u8]) {
        self.add(&[part, line]);
    }
    fn file(&mut self, field: &[u8], name: &[u8], _: usize) {
        self.add(&[field, name]);
    }
    fn xml_attribute(&mut self, value: &[u8]) {
        self.add(&[value]);
    }
    fn xml_text(&mut self, value: &[u8]) {
        self.add(&[value]);
    }
}

const DEEPEST: usize = 64;
const MULTIPART: &[u8] = b"multipart/form-data; boundary=x";
const TYPES: [&[u8]; 4] = [b"application/x-www-form-urlencoded", b"application/json", b"text/xml", MULTIPART];

type Reader = fn(&[u8], &mut Found) -> bool;

const READERS: [(&str, Reader); 5] = [
    ("form", |text, found| {
        body::read_form(text, |name, value| found.add(&[name, value]));
        true
    }),
    ("cookies", |text, found| {
        body::read_cookies(text, |name, value| found.add(&[name, value]));
        true
    }),
    ("JSON", |text, found| body::read_json(text, DEEPEST, found).is_ok()),
    ("XML", |text, found| body::read_xml(text, found).is_ok()),
    ("multipart", |text, found| body::read_multipart(MULTIPART, text, found).is_ok()),
];

/// Numbers of a fixed sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Pieces that the readers know.
const PIECES: [&str; 60] = [
    "--x", "--x--", "\r\n", "\n", "\r", "Content-Disposition: form-data; name=\"a\"", "; filename=\"b\"", "; filename*=utf-8''%41", "name=", ":",
    ";", "=", "&", "%", "%41", "%4", "+", "\"", "\\", "\\u0041", "\\ud83d", "{", "}", "[", "]", ",", "\"a\":", "null", "true", "-1.5e3", "0", " ", "\t",
    "<", ">", "</", "/>", "<a", "</a>", "<a b='c'>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<!", "<!DOCTYPE a [", "&lt;", "&#x41;", "&#", "'",
    "a", "é", "\u{fffd}", "\0", "--", "x", "a=b; c=d", "\u{1}",
];

fn text(dice: &mut Dice) -> Vec<u8> {
    let count = dice.below(40);
    let mut text = Vec::new();
    for _ in 0..count {
        match dice.below(20) {
            0 => text.push(dice.below(256) as u8),
            _ => text.extend_from_slice(PIECES[dice.below(PIECES.len())].as_bytes()),
        }
    }
    text
}

#[test]
fn readers_take_any_text() {
    let mut dice = Dice(1);
    for _ in 0..20_000 {
        let text = text(&mut dice);
        for (name, read) in READERS {
            let mut found = Found::default();
            read(&text, &mut found);
            // Names of JSON are paths, which values repeat.
            let most = (text.len() + 8) * if name == "JSON" || name == "multipart" { DEEPEST } else { 2 };
            assert!(found.bytes <= most, "{name} makes {} bytes of {:?}", found.bytes, String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn readers_take_any_part_of_a_text() {
    let whole: [&[u8]; 4] = [
        b"{\"a\": [1, {\"b\": \"\\ud83d\\ude00\\n\"}, []], \"c\": -1.5e-3, \"d\": {}}",
        b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a b='&lt;'><!-- c --><d e=\"f\"/><![CDATA[g]]>h</a>",
        b"--x\r\nContent-Disposition: form-data; name=\"a\"; filename*=utf-8''b\r\nX: y\r\n folded\r\n\r\nc\r\n--x\r\n\r\n\r\n--x--\r\n",
        b"a=b%41+c&d=e%&=&f; $g = h ;=i",
    ];
    for text in whole {
        for start in 0..text.len() {
            for end in start..=text.len() {
                for (_, read) in READERS {
                    read(&text[start..end], &mut Found::default());
                }
            }
        }
    }
}

/// Texts that take readers time or stack, if anything does.
fn hostile(length: usize) -> Vec<(&'static str, Vec<u8>)> {
    let repeat = |piece: &str| piece.repeat(length / piece.len());
    let deep = |open: &str, close: &str| [open.repeat(length / 16), close.repeat(length / 16)].concat();
    let part = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n";
    [
        ("brackets", repeat("[")),
        ("closed brackets", deep("[", "]")),
        ("objects", repeat("{\"a\":")),
        ("tags", repeat("<a>")),
        ("closed tags", deep("<a>", "</a>")),
        ("less than", repeat("<")),
        ("declarations", repeat("<!")),
        ("comments", repeat("<!--")),
        ("attributes", format!("<a {}", repeat("b='c' "))),
        ("quotes", format!("<a {}", repeat("b='"))),
        ("entities", repeat("&#x")),
        ("ampersands", repeat("&a")),
        ("boundaries", repeat("\r\n--x")),
        ("nearly boundaries", repeat("\r\n--xy")),
        ("parts", repeat(&format!("{part}\r\nb\r\n"))),
        ("heads", format!("--x\r\n{}", repeat("A: b\r\n"))),
        ("folded lines", format!("{part}{}", repeat(" a\r\n"))),
        ("parameters", format!("--x\r\nContent-Disposition: a{}\r\n\r\n", repeat("; b=c"))),
        ("semicolons", format!("--x\r\nContent-Disposition: a{}\r\n\r\n", repeat(";"))),
        ("pairs", repeat("a=b&")),
        ("percent signs", repeat("%")),
        ("cookies", repeat("a=b;")),
        ("controls", repeat("\u{1}")),
        ("backslashes", format!("\"{}", repeat("\\\\"))),
    ]
    .map(|(name, text)| (name, text.into_bytes()))
    .into()
}

#[test]
fn readers_take_linear_time() {
    let measure = |read: Reader, text: &[u8]| {
        let took = || {
            let started = Instant::now();
            read(text, &mut Found::default());
            started.elapsed()
        };
        (0..3).map(|_| took()).min().unwrap_or_default()
    };
    for ((title, short), (_, long)) in hostile(16 << 10).into_iter().zip(hostile(512 << 10)) {
        for (name, read) in READERS {
            let (before, after) = (measure(read, &short), measure(read, &long));
            // 32 times as long: a reader whose time is quadratic would take 1,024 times as long.
            let most = 250 * before.max(Duration::from_micros(40));
            assert!(after < most, "{name} takes {before:?}, then {after:?} for {title}");
        }
    }
}

#[test]
fn readers_need_little_stack() {
    // A quarter of the module's, which other calls share.
    const STACK: usize = 32 << 10;
    let read_all = || {
        for (_, text) in hostile(256 << 10) {
            for (_, read) in READERS {
                read(&text, &mut Found::default());
            }
            gw_waf_engine::injection::detect_xss(&text);
            gw_waf_engine::injection::detect_sqli(&text[..text.len().min(8 << 10)]);
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(read_all).expect("a thread").join().expect("no panic");
}

#[test]
fn inspections_stay_within_their_budget() {
    let mut rules = RuleSet::default();
    rules.finish().expect("a set of rules");
    let mut dice = Dice(2);
    let mut bodies: Vec<Vec<u8>> = (0..2_000).map(|_| text(&mut dice)).collect();
    bodies.extend(hostile(64 << 10).into_iter().map(|(_, text)| text));
    for body in &bodies {
        for content_type in TYPES {
            let budget = [1_000, 50_000, 2_000_000][dice.below(3)];
            let options = Options { budget, arguments: 1_000, depth: DEEPEST, ..Options::default() };
            let headers = vec![(b"Content-Type".as_slice(), content_type), (b"Cookie".as_slice(), &body[..body.len().min(4_096)])];
            let request = Request { method: b"POST", target: b"/?a=b", version: b"HTTP/1.1", headers, body, ..Request::default() };
            let mut transaction = Transaction::new(&rules, &options);
            transaction.request_head(&request);
            transaction.request_body(&request);
            transaction.end();
            assert!(transaction.units() <= budget);
            let (bytes, values) = transaction.size();
            // Units stand for bytes and values alike.
            assert!(bytes + values <= budget as usize + 1, "{bytes} bytes, {values} values for {budget} units");
        }
    }
}
