/** Texts as a schema wants them: by format, pattern and length. */
import { Unmakeable, USUAL_REACH, type ValueGenerator } from './generator.ts';
import { atLeast, atMost, type Parts, textsOf } from './parts.ts';
import { patternText } from './pattern-text.ts';
import type { Random } from './random.ts';

const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'harbor', 'island', 'juniper', 'kite'];

export function stringValue(parts: Parts, generator: ValueGenerator): string {
  const lengths = { least: atLeast(parts, 'minLength'), most: atMost(parts, 'maxLength') };
  if (lengths.least > lengths.most) throw new Unmakeable('its least length is above its greatest');
  generator.takeText(lengths.least);
  const format = textsOf(parts, 'format').find((each) => Object.hasOwn(FORMATS, each));
  const [pattern] = textsOf(parts, 'pattern');
  const { random, strategy } = generator;
  if (pattern !== undefined && (format === undefined || strategy.text === 'pattern')) {
    const text = patternText(pattern, lengths, generator);
    if (text !== null) return text;
  }
  const text = format === undefined ? plain(generator) : (FORMATS[format] as Format)(random);
  return format === undefined ? fitted(text, lengths, random) : text;
}

function fitted(text: string, { least, most }: { readonly least: number; readonly most: number }, random: Random) {
  let long = text;
  while (long.length < least) long += ` ${word(random)}`;
  return long.slice(0, Math.max(least, Math.min(most, long.length)));
}

/** Returns a word; after hexadecimal digits if it must differ from many others. */
function plain({ random, reach }: ValueGenerator): string {
  return reach > USUAL_REACH ? `${random.hex(8)} ${word(random)}` : word(random);
}

export function word(random: Random): string {
  return random.pick(WORDS) ?? '';
}

type Format = (random: Random) => string;

const two = (value: number) => String(value).padStart(2, '0');
const date: Format = (random) => `2025-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;
const time: Format = (random) => `${two(random.below(24))}:${two(random.below(60))}:${two(random.below(60))}Z`;
const url: Format = (random) => `https://example.com/${word(random)}`;
const email: Format = (random) => `${word(random)}@example.com`;
const hostname: Format = (random) => `${word(random)}.example.com`;
const base64: Format = (random) => Buffer.from(word(random)).toString('base64');

/** Every format that is validated, and some that are read by people. */
const FORMATS: Readonly<Record<string, Format>> = {
  'date-time': (random) => `${date(random)}T${time(random)}`,
  date,
  time,
  'iso-time': time,
  'iso-date-time': (random) => `${date(random)}T${time(random)}`,
  duration: (random) => `P${1 + random.below(30)}D`,
  email,
  'idn-email': email,
  hostname,
  'idn-hostname': hostname,
  ipv4: (random) => `192.0.2.${1 + random.below(254)}`,
  ipv6: (random) => `2001:db8::${random.hex(4)}`,
  uri: url,
  url,
  iri: url,
  'uri-reference': (random) => `/${word(random)}`,
  'iri-reference': (random) => `/${word(random)}`,
  'uri-template': (random) => `/${word(random)}/{id}`,
  uuid: (random) =>
    `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-${random.pick(['8', '9', 'a', 'b'])}${random.hex(3)}-${random.hex(12)}`,
  'json-pointer': (random) => `/${word(random)}`,
  'json-pointer-uri-fragment': (random) => `#/${word(random)}`,
  'relative-json-pointer': (random) => `0/${word(random)}`,
  regex: (random) => `^${word(random)}$`,
  byte: base64,
  base64url: (random) => Buffer.from(word(random)).toString('base64url'),
};
