/** `upstreams` of a manifest: URLs with names, and policies of upstreams (docs/upstreams.md). */
import { type Balance, EJECTION_LIMITS, type Ejection, UPSTREAM_NAME } from '../../artifact/upstream-policy.ts';
import type { ProjectUpstream } from '../../compiler/project/project.ts';
import { isObject, type Obj } from '../../spec/json.ts';
import { child } from '../../spec/pointer.ts';
import { type Fail, objectOf, onlyFields, type Part } from './manifest-fields.ts';

const BALANCE_HINT =
  'Write least-requests, round-robin, { hash: { header: NAME } }, { hash: { cookie: NAME } } or { hash: client-address }.';
/** A name of a header or a cookie (RFC 9110, section 5.1). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function upstreamsOf(value: unknown, fail: Fail): { readonly [name: string]: ProjectUpstream } {
  const such = 'books: { url: https://books.example.org }';
  const upstreams = objectOf(value ?? {}, { what: '"upstreams"', pointer: '/upstreams', such }, fail);
  return Object.fromEntries(
    Object.entries(upstreams).map(([name, entry]) => {
      const part = { what: `upstream "${name}"`, pointer: child('/upstreams', name) };
      const upstream = objectOf(entry ?? {}, { ...part, such: 'url: https://books.example.org' }, fail);
      onlyFields(upstream, ['url', 'balance', 'ejection'], part, fail);
      return [name, upstream['url'] === undefined ? policyOf(name, upstream, fail) : urlOf(name, upstream, fail)];
    }),
  );
}

function urlOf(name: string, { url, balance, ejection }: Obj, fail: Fail): ProjectUpstream {
  const pointer = child('/upstreams', name);
  if (typeof url !== 'string')
    return fail(
      `"url" of upstream "${name}" must be a full URL`,
      child(pointer, 'url'),
      `Write ${name}: { url: https://books.example.org }.`,
    );
  if (balance !== undefined || ejection !== undefined)
    return fail(
      `upstream "${name}" has a URL, and settings for several addresses`,
      child(pointer, 'url'),
      'Remove "url" and give the addresses in upstreams.yaml, or remove "balance" and "ejection".',
    );
  const parsed = URL.parse(url);
  // `localhost:3000` parses as the scheme `localhost`.
  if (parsed === null || parsed.host === '')
    return fail(
      `upstream "${name}" is not at a full URL`,
      child(pointer, 'url'),
      'Write the scheme, the host and the port, such as http://localhost:3000 or https://books.example.org.',
    );
  return { url };
}

function policyOf(name: string, { balance, ejection }: Obj, fail: Fail): ProjectUpstream {
  const pointer = child('/upstreams', name);
  if (!UPSTREAM_NAME.test(name))
    return fail(
      `"${name}" is not a name of an upstream without "url"`,
      pointer,
      'Write a name that begins with a-z and has at most 63 characters of a-z, 0-9 and "-".',
    );
  const part = { what: `"ejection" of upstream "${name}"`, pointer: child(pointer, 'ejection') };
  return {
    ...(balance === undefined ? {} : { balance: balanceOf(name, balance, fail) }),
    ...(ejection === undefined ? {} : { ejection: ejectionOf(part, ejection, fail) }),
  };
}

function balanceOf(name: string, balance: unknown, fail: Fail): Balance {
  if (balance === 'least-requests' || balance === 'round-robin') return balance;
  const refuse = () =>
    fail(`"balance" of upstream "${name}" is not known`, child(child('/upstreams', name), 'balance'), BALANCE_HINT);
  if (!isObject(balance) || Object.keys(balance).join() !== 'hash') return refuse();
  const { hash } = balance;
  if (hash === 'client-address') return { hash };
  if (!isObject(hash) || Object.keys(hash).length !== 1) return refuse();
  const { header, cookie } = hash;
  if (typeof header === 'string' && TOKEN.test(header)) return { hash: { header: header.toLowerCase() } };
  return typeof cookie === 'string' && TOKEN.test(cookie) ? { hash: { cookie } } : refuse();
}

function ejectionOf(part: Part, value: unknown, fail: Fail): Partial<Ejection> {
  const given = objectOf(value, { ...part, such: 'failures: 5' }, fail);
  onlyFields(given, Object.keys(EJECTION_LIMITS), part, fail);
  for (const [field, [least, most]] of Object.entries(EJECTION_LIMITS)) {
    const number = given[field];
    if (number === undefined) continue;
    const isCount = field !== 'failures' || Number.isInteger(number);
    if (typeof number !== 'number' || !isCount || !(number >= least && number <= most))
      return fail(
        `"${field}" in ${part.what} is not ${kindOfNumber(field)} from ${least} to ${most}`,
        child(part.pointer, field),
        `Write ${kindOfNumber(field)} from ${least} to ${most}.`,
      );
  }
  return given;
}

function kindOfNumber(field: string): string {
  return field === 'failures' ? 'a whole number' : 'a number';
}
