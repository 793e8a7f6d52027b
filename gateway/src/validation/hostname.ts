/** `format: hostname`: labels of RFC 1123, section 2.1; those of internationalized names as UTS 46 reads them. */
import { domainToASCII } from 'node:url';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const LONGEST = 253;

export function isHostname(text: string): boolean {
  return text.length <= LONGEST && text.split('.').every(isLabel);
}

function isLabel(label: string): boolean {
  if (!LABEL.test(label)) return false;
  if (label.slice(2, 4) !== '--') return true;
  // Of these, only encoded names are registered, and they must be the encoding of some.
  return /^xn--/i.test(label) && domainToASCII(label) !== '';
}
