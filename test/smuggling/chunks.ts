/** The chunked coding (RFC 9112, section 7.1). Each of these would otherwise put /smuggled behind the message. */
import { AFTER, type Case, chunked } from './message.ts';

const REFUSED = ['400'];

function chunks(name: string, body: string, answers: readonly string[] = REFUSED, rfc = '9112 7.1'): Case {
  return { name: `chunks: ${name}`, rfc, bytes: chunked(body), answers };
}

export const CHUNKS: readonly Case[] = [
  chunks('two', '3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n', ['POST /x "hello"', AFTER]),
  chunks('leading zeros', '00005\r\nhello\r\n0000\r\n\r\n', ['POST /x "hello"', AFTER]),
  chunks('hexadecimal in either case', `a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n`, [
    'POST /x "01234567890123456789"',
    AFTER,
  ]),
  chunks('extensions', '5;a=1;b="x"\r\nhello\r\n0;c\r\n\r\n', ['POST /x "hello"', AFTER], '9112 7.1.1'),
  chunks('an extension with a bare LF', '5;a\nb\r\nhello\r\n0\r\n\r\n', REFUSED, '9112 7.1.1'),
  chunks('an extension with a bare CR', '5;a\rb\r\nhello\r\n0\r\n\r\n', REFUSED, '9112 7.1.1'),
  chunks('an extension of 20,000 bytes', `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`, REFUSED, '9112 7.1.1'),
  chunks('white space before an extension', '5 ;a=1\r\nhello\r\n0\r\n\r\n', REFUSED, '9112 7.1.1'),
  chunks('negative', '-5\r\nhello\r\n0\r\n\r\n'),
  chunks('plus sign', '+5\r\nhello\r\n0\r\n\r\n'),
  chunks('0x5', '0x5\r\nhello\r\n0\r\n\r\n'),
  chunks('no size', '\r\nhello\r\n0\r\n\r\n'),
  chunks('white space before the size', ' 5\r\nhello\r\n0\r\n\r\n'),
  chunks('white space behind the size', '5 \r\nhello\r\n0\r\n\r\n'),
  chunks('no hexadecimal digit', 'g\r\nhello\r\n0\r\n\r\n'),
  chunks('more than 64 bits', '10000000000000005\r\nhello\r\n0\r\n\r\n'),
  chunks('the most of 64 bits: the rest never comes', 'ffffffffffffffff\r\nhello\r\n0\r\n\r\n', ['408']),
  chunks('larger than --max-body-size: the rest never comes', 'fffffff\r\nhello\r\n0\r\n\r\n', ['408']),
  chunks('bare LF behind the size', '5\nhello\r\n0\r\n\r\n'),
  chunks('bare CR behind the size', '5\rhello\r\n0\r\n\r\n'),
  chunks('no CRLF behind the data', '5\r\nhello0\r\n\r\n'),
  chunks('bare LF behind the data', '5\r\nhello\n0\r\n\r\n'),
  chunks('data longer than the size', '5\r\nhelloworld\r\n0\r\n\r\n'),
  chunks('bare LF behind the last chunk', '0\n\n'),
  chunks('a trailer field', '5\r\nhello\r\n0\r\nX-Checksum: 1\r\n\r\n', ['POST /x "hello"', AFTER], '9112 7.1.2'),
  chunks('Content-Length as a trailer field', '5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n', REFUSED, '9110 6.5.1'),
  chunks(
    'Transfer-Encoding as a trailer field',
    '5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n',
    REFUSED,
    '9110 6.5.1',
  ),
  chunks('Host as a trailer field', '5\r\nhello\r\n0\r\nHost: b\r\n\r\n', ['POST /x "hello"', AFTER], '9110 6.5.1'),
  chunks('a trailer field without a colon', '5\r\nhello\r\n0\r\nnonsense\r\n\r\n', REFUSED, '9112 7.1.2'),
  chunks('a folded trailer field', '5\r\nhello\r\n0\r\nX-A: 1\r\n 2\r\n\r\n', REFUSED, '9112 5.2'),
];
