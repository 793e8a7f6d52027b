/**
 * `format: email`: a Mailbox of RFC 5321, section 4.1.2, within the lengths of its section 4.5.3.1; `idn-email` with
 * the additions of RFC 6531, section 3.3.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { isIdnHostname } from './hostname.ts';

/** Octets. */
const LONGEST = { localPart: 64, domain: 255, mailbox: 254, label: 63 };

const DOT_STRING = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const QUOTED_STRING = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/;
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
/** The one tag that is registered for address literals. */
const IPV6 = /^IPv6:/i;

export function isEmail(text: string): boolean {
  if (text.length > LONGEST.mailbox) return false;
  // No domain holds an "@"; a quoted local part may.
  const at = text.lastIndexOf('@');
  if (at < 1 || at > LONGEST.localPart) return false;
  const localPart = text.slice(0, at);
  return (DOT_STRING.test(localPart) || QUOTED_STRING.test(localPart)) && isDomain(text.slice(at + 1));
}

const IDN_DOT_STRING = new RegExp(DOT_STRING.source.replaceAll('~-]', '~\\u0080-\\u{10ffff}-]'), 'u');
const IDN_QUOTED_STRING = new RegExp(QUOTED_STRING.source.replace('#-[\\]-~', '#-\\[\\]-~\\u0080-\\u{10ffff}'), 'u');

export function isIdnEmail(text: string): boolean {
  if (Buffer.byteLength(text) > LONGEST.mailbox) return false;
  const at = text.lastIndexOf('@');
  const [localPart, domain] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || Buffer.byteLength(localPart) > LONGEST.localPart) return false;
  if (!IDN_DOT_STRING.test(localPart) && !IDN_QUOTED_STRING.test(localPart)) return false;
  // Senders have to normalise it: other forms are the same domain.
  return isDomain(domain) || isIdnHostname(domain.normalize('NFC'));
}

function isDomain(text: string): boolean {
  if (text.startsWith('[') && text.endsWith(']')) return isAddress(text.slice(1, -1));
  if (text.length > LONGEST.domain) return false;
  return text.split('.').every((label) => label.length <= LONGEST.label && LABEL.test(label));
}

function isAddress(text: string): boolean {
  // A zone does not belong to an address on the wire.
  return IPV6.test(text) ? isIPv6(text.slice(5)) && !text.includes('%') : isIPv4(text);
}
