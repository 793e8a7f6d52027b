/** Formats of OpenAPI and its registry beyond those of JSON Schema; an unknown format is an annotation. */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { compareDecimals, type Decimal, decimalText, isWhole, readDecimal } from '../../json/decimal.ts';
import { decimalOf, isStandIn } from '../../json/stand-ins.ts';
import { isDateTime, isTime } from './date-time.ts';
import { isEmail, isIdnEmail } from './email.ts';
import { isHostname, isIdnHostname } from './hostname.ts';
import { isIri, isIriReference, isUri, isUriReference } from './uri.ts';

/** Inclusive bounds of integers. */
const INTEGERS: Readonly<Record<string, readonly [bigint, bigint]>> = Object.fromEntries(
  [8n, 16n, 32n, 64n].flatMap((bits) => [
    [`int${bits}`, [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]],
    [`uint${bits}`, [0n, 2n ** bits - 1n]],
  ]),
);

/** Base64 with padding, in one pass: no line breaks. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64URL = /^[A-Za-z0-9_-]*$/;

/** RFC 3339, appendix A: no unit is left out between two. */
const TIME = '(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)';
const DATE = '(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)';
const DURATION = new RegExp(`^P(?:\\d+W|T${TIME}|${DATE}(?:T${TIME})?)$`);
/** RFC 6570, section 2. */
const VARIABLE = '(?:[a-z0-9_]|%[0-9a-f]{2})(?:\\.?(?:[a-z0-9_]|%[0-9a-f]{2}))*(?::[1-9]\\d{0,3}|\\*)?';
const URI_TEMPLATE = new RegExp(
  `^(?:[^\\x00-\\x20\\x7f"<>%\\\\^\`{|}]|%[0-9a-f]{2}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`,
  'i',
);

/** JSON Schema's, each judged in time that grows as the text does. */
export function addStandardFormats(ajv: Ajv2020): void {
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addFormat('time', isTime);
  ajv.addFormat('date-time', isDateTime);
  ajv.addFormat('duration', DURATION);
  ajv.addFormat('hostname', isHostname);
  ajv.addFormat('idn-hostname', isIdnHostname);
  ajv.addFormat('uri', isUri);
  ajv.addFormat('uri-reference', isUriReference);
  ajv.addFormat('iri', isIri);
  ajv.addFormat('iri-reference', isIriReference);
  ajv.addFormat('uri-template', URI_TEMPLATE);
  // The library's takes `urn:uuid:` for a part of it.
  ajv.addFormat('uuid', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i);
  // The library's wants a dot in the domain, knows no quotes and no addresses, and lets in names of any length.
  ajv.addFormat('email', isEmail);
  ajv.addFormat('idn-email', isIdnEmail);
  // The library's pattern tries each way to part name and password: minutes for a megabyte of colons.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/[^\s]+$/i.test(text) && URL.canParse(text));
}

function integerTest(least: bigint, most: bigint): (value: number) => boolean {
  const [low, high] = [decimalOfInteger(least), decimalOfInteger(most)];
  // Bounds that binary64 cannot represent exclude no safe integer.
  const [first, last] = [Number(least), Number(most)];
  return (value) => {
    if (Number.isSafeInteger(value)) return value >= first && value <= last;
    const decimal = decimalOf(value);
    return isWhole(decimal) && compareDecimals(decimal, low) >= 0 && compareDecimals(decimal, high) <= 0;
  };
}

function decimalOfInteger(value: bigint): Decimal {
  return readDecimal(String(value)) as Decimal;
}

/** The number of binary64 that is nearest; beyond them all, an infinite one. */
function nearest(value: number): number {
  return isStandIn(value) ? Number(decimalText(decimalOf(value))) : value;
}

export function addAllFormats(ajv: Ajv2020): void {
  addStandardFormats(ajv);
  for (const [name, [least, most]] of Object.entries(INTEGERS)) {
    ajv.addFormat(name, { type: 'number', validate: integerTest(least, most) });
  }
  ajv.addFormat('float', { type: 'number', validate: (value: number) => Number.isFinite(Math.fround(nearest(value))) });
  ajv.addFormat('double', { type: 'number', validate: (value: number) => Number.isFinite(nearest(value)) });
  ajv.addFormat('byte', (text: string) => text.length % 4 === 0 && BASE64.test(text));
  ajv.addFormat('base64url', (text: string) => text.length % 4 !== 1 && BASE64URL.test(text));
}
