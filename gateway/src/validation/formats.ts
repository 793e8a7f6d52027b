/** Formats of OpenAPI and its registry beyond those of JSON Schema; an unknown format is an annotation. */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isEmail } from './email.ts';

/** Inclusive bounds of integers. Past 2^53 JavaScript's numbers have lost their last digits: the bound is the nearest. */
const INTEGERS: Readonly<Record<string, readonly [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32_768, 32_767],
  uint16: [0, 65_535],
  int32: [-2_147_483_648, 2_147_483_647],
  uint32: [0, 4_294_967_295],
  int64: [-(2 ** 63), 2 ** 63],
  uint64: [0, 2 ** 64],
};

/** Base64 with padding, in one pass: no line breaks. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64URL = /^[A-Za-z0-9_-]*$/;

/** JSON Schema's, each judged in time that grows as the text does. */
export function addStandardFormats(ajv: Ajv2020): void {
  (addFormats as unknown as typeof addFormats.default)(ajv);
  // The library's wants a dot in the domain, knows no quotes and no addresses, and lets in names of any length.
  ajv.addFormat('email', isEmail);
  // The library's pattern tries each way to part name and password: minutes for a megabyte of colons.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/[^\s]+$/i.test(text) && URL.canParse(text));
}

export function addAllFormats(ajv: Ajv2020): void {
  addStandardFormats(ajv);
  for (const [name, [least, most]] of Object.entries(INTEGERS)) {
    const validate = (value: number) => Number.isInteger(value) && value >= least && value <= most;
    ajv.addFormat(name, { type: 'number', validate });
  }
  ajv.addFormat('byte', (text: string) => text.length % 4 === 0 && BASE64.test(text));
  ajv.addFormat('base64url', (text: string) => text.length % 4 !== 1 && BASE64URL.test(text));
}
