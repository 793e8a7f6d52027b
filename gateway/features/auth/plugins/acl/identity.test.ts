/** Names of callers and groups from an authentication to a decision: no two are taken for one another. */
import { join } from 'node:path';
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';

interface Caller {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** Names that differ in what readers of headers, lists and encodings take away or replace. */
const part = fc.constantFrom(
  'a',
  'A',
  'b',
  ' ',
  '  ',
  '\t',
  ',',
  ', ',
  '%',
  '%20',
  '%2C',
  '%25',
  'ä',
  '\u00a0',
  '\ufffd',
);
const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
/** As the config takes them. */
const listable = name.filter((each) => /^\S(.*\S)?$/.test(each));
const caller: fc.Arbitrary<Caller> = fc.record({ id: name, scopes: fc.uniqueArray(name, { maxLength: 3 }) });

describe('names of callers', () => {
  let keys: PluginKit;
  let acl: PluginKit;
  beforeAll(async () => {
    keys = await testPlugin(join(import.meta.dirname, '..', 'apikey-auth'));
    acl = await testPlugin(import.meta.dirname);
  });
  afterAll(() => {
    keys.close();
    acl.close();
  });

  /** As an upstream reads them: without blanks at the ends. */
  async function headersOf({ id, scopes }: Caller): Promise<Record<string, string>> {
    const config = { keys: [{ key: 'sekrit-key-1', id, name: id, scopes: [...scopes] }] };
    const { requestHeaders } = await keys.onRequest({ config, headers: { 'x-api-key': 'sekrit-key-1' } });
    const wanted = ['x-auth-consumer', 'x-auth-consumer-groups'];
    return Object.fromEntries(wanted.map((each) => [each, String(requestHeaders[each] ?? '').trim()]));
  }

  async function passes(config: Record<string, string[]>, headers: Record<string, string>): Promise<boolean> {
    return (await acl.onRequest({ config, headers })).outcome === 'continue';
  }

  it('make different headers where they differ, as anybody reads them', async () => {
    await fc.assert(
      fc.asyncProperty(caller, caller, async (one, other) => {
        const [ones, others] = [await headersOf(one), await headersOf(other)];
        expect(ones['x-auth-consumer'] === others['x-auth-consumer']).toBe(one.id === other.id);
        expect(ones['x-auth-consumer-groups'] === others['x-auth-consumer-groups']).toBe(
          JSON.stringify(one.scopes) === JSON.stringify(other.scopes),
        );
        expect(decodeURIComponent(ones['x-auth-consumer'] ?? '')).toBe(one.id);
        const groups = ones['x-auth-consumer-groups'] ?? '';
        expect(groups === '' ? [] : groups.split(',').map(decodeURIComponent)).toEqual(one.scopes);
      }),
      propertyRuns(200),
    );
  });

  it('are allowed and denied by their own name, and by no other', async () => {
    await fc.assert(
      fc.asyncProperty(caller, listable, async (who, listed) => {
        const headers = await headersOf(who);
        const isIt = who.id === listed;
        const isIn = who.scopes.includes(listed);
        expect(await passes({ allow_consumers: [listed] }, headers)).toBe(isIt);
        expect(await passes({ deny_consumers: [listed] }, headers)).toBe(!isIt);
        expect(await passes({ allow_groups: [listed] }, headers)).toBe(isIn);
        expect(await passes({ deny_groups: [listed] }, headers)).toBe(!isIn);
      }),
      propertyRuns(200),
    );
  });
});
