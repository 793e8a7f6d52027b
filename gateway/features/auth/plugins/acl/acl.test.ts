import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const as = (config: Record<string, string | string[]>, consumer?: string, groups?: string) =>
  kit.onRequest({
    config,
    headers: {
      ...(consumer === undefined ? {} : { 'x-auth-consumer': consumer }),
      ...(groups === undefined ? {} : { 'x-auth-consumer-groups': groups }),
    },
  });
const passes = async (...who: Parameters<typeof as>) => (await as(...who)).outcome === 'continue';

describe('acl', () => {
  it('passes every consumer by default, and answers 401 where there is none', async () => {
    expect(await passes({}, 'alice')).toBe(true);
    const { answer, problem } = await as({});
    expect(answer?.headers['www-authenticate']).toBe('Bearer');
    expect(problem).toMatchObject({ type: 'urn:gw:error:unauthorized', title: 'Unauthorized', status: 401 });
    expect((await as({ allow_consumers: ['alice'] }, '')).answer?.status).toBe(401);
    expect((await as({ challenge: 'Basic realm="x"' })).answer?.headers['www-authenticate']).toBe('Basic realm="x"');
  });

  it('passes whom either list allows, and no others', async () => {
    const config = { allow_consumers: ['alice'], allow_groups: ['admins', 'editors'] };
    expect(await passes(config, 'alice')).toBe(true);
    expect(await passes(config, 'bob', 'editors')).toBe(true);
    expect(await passes(config, 'bob', 'readers,admins')).toBe(true);
    expect(await passes(config, 'bob', 'readers, admins ,x')).toBe(true);
    expect(await passes(config, 'bob')).toBe(false);
    expect(await passes(config, 'bob', '')).toBe(false);
    expect(await passes(config, 'bob', 'readers')).toBe(false);
  });

  it('refuses whom either list denies, whatever allows them', async () => {
    const config = { allow_consumers: ['alice'], deny_consumers: ['alice'], deny_groups: ['banned'] };
    expect(await passes(config, 'alice')).toBe(false);
    expect(await passes({ allow_consumers: ['bob'], deny_groups: ['banned'] }, 'bob', 'x,banned')).toBe(false);
    expect(await passes({ deny_groups: ['banned'] }, 'bob', 'x')).toBe(true);
    expect(await passes({ deny_consumers: ['mallory'] }, 'bob')).toBe(true);
  });

  it('answers 403 without saying who or why', async () => {
    const { problem } = await as({ allow_groups: ['admins'] }, 'bob', 'readers');
    expect(problem).toEqual({
      type: 'urn:gw:error:forbidden',
      title: 'Forbidden',
      status: 403,
      detail: 'Access denied',
    });
    const message = 'Ask for access';
    expect((await as({ deny_consumers: ['bob'], message }, 'bob')).problem).toMatchObject({ detail: message });
  });

  it('compares names exactly', async () => {
    const config = { allow_groups: ['admin'], allow_consumers: ['alice'] };
    for (const groups of ['Admin', 'admins', 'adm', '%61dmin', 'x admin', '*']) {
      expect(await passes(config, 'bob', groups)).toBe(false);
    }
    for (const consumer of ['Alice', 'alice,bob', 'alic']) expect(await passes(config, consumer)).toBe(false);
  });

  // docs/decisions.md#identity-headers
  it('takes names as the config has them, and finds them as headers encode them', async () => {
    expect(await passes({ allow_groups: ['Vertrieb, Köln'] }, 'bob', 'x,Vertrieb%2C K%C3%B6ln')).toBe(true);
    expect(await passes({ deny_groups: ['Vertrieb, Köln'] }, 'bob', 'Vertrieb%2C K%C3%B6ln')).toBe(false);
    expect(await passes({ allow_groups: ['Köln'] }, 'bob', 'Vertrieb%2C K%C3%B6ln')).toBe(false);
    expect(await passes({ allow_consumers: ['Zoë'] }, 'Zo%C3%AB')).toBe(true);
    // Another one, whose name reads like Zoë's encoded.
    expect(await passes({ allow_consumers: ['Zoë'] }, 'Zo%25C3%25AB')).toBe(false);
    expect(await passes({ allow_consumers: ['Zo%C3%AB'] }, 'Zo%25C3%25AB')).toBe(true);
  });

  it.each([
    { allow_groups: [''] },
    { allow_groups: 'x' },
    { deny_consumers: [' x'] },
    { challenge: 'a\nb' },
    { allow: [] },
  ])('refuses the config %j', async (bad) => {
    await expect(kit.bind(bad)).rejects.toThrow(/schema/);
  });
});
