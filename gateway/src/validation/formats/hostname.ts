/** `format: hostname` and `idn-hostname`: labels of RFC 1123, section 2.1, and of internationalized names. */
import { domainToASCII } from 'node:url';
import { isEncodedLabel, isRightToLeft, isUnicodeLabel } from './idna.ts';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const LONGEST = 253;
/** RFC 3490, section 3.1; later texts leave other separators than the dot to user interfaces. */
const SEPARATOR = /[.\u3002\uff0e\uff61]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

export function isHostname(text: string): boolean {
  return text.length <= LONGEST && text.split('.').every(isLabel);
}

export function isIdnHostname(text: string): boolean {
  if (text.length > LONGEST) return false;
  const labels = text.split(SEPARATOR);
  const isBidi = labels.some(isRightToLeft);
  const encoded = labels.map((label) => (ASCII.test(label) ? label : domainToASCII(label)));
  if (encoded.join('.').length > LONGEST) return false;
  return labels.every((label) => {
    if (!ASCII.test(label)) return isUnicodeLabel(label, isBidi);
    return isLabel(label) && !(isBidi && /^[0-9]/.test(label));
  });
}

function isLabel(label: string): boolean {
  if (!LABEL.test(label)) return false;
  if (label.slice(2, 4) !== '--') return true;
  // Of labels with such hyphens, only encoded names are registered.
  return /^xn--/i.test(label) && isEncodedLabel(label);
}
