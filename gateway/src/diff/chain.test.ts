import { describe, expect, it } from 'vitest';
import type { Json, Operation } from '../artifact/format.ts';
import { builtinPlugins, loadBuiltinPlugin } from '../plugins/builtin.ts';
import { diffChain, isCustom } from './chain.ts';

const PLUGINS = { authenticates: new Set<string>(), upstreams: new Map([['http-upstream', ['/url', '/mirrors/*']]]) };

const dispatched = (config: Json) =>
  ({ middlewares: [], dispatch: { name: 'http-upstream', config } }) as unknown as Operation;
const changes = (before: Json, after: Json) =>
  diffChain('GET /a', dispatched(before), dispatched(after), PLUGINS).map(({ message }) => message);

describe('a changed upstream', () => {
  it('is named, beside the names of what else has changed', () => {
    expect(changes({ url: 'https://a.example', timeout: 1 }, { url: 'https://b.example:8443/v2', timeout: 2 })).toEqual(
      [
        'upstream of "http-upstream": https://a.example → https://b.example:8443/v2',
        'config of "http-upstream" changed: /timeout',
      ],
    );
    expect(changes({ mirrors: ['https://a.example'] }, { mirrors: ['https://b.example'] })).toContain(
      'upstream of "http-upstream": https://a.example → https://b.example',
    );
  });

  it.each([
    ['no URL', 'somewhere'],
    ['credentials in it', 'https://me:planted-secret@a.example'],
  ])('is not shown with %s', (_, url) => {
    const [message = '', ...others] = changes({ url }, { url: 'https://b.example' });
    expect([message, others]).toEqual(['config of "http-upstream" changed: /url', []]);
  });
});

it("middlewares of one's own break where they are added or removed, those that come with gw are known", () => {
  const names = (...middlewares: string[]) =>
    ({
      middlewares: middlewares.map((name) => ({ name, config: {} })),
      dispatch: { name: 'mock', config: {} },
    }) as unknown as Operation;
  const of = (before: Operation, after: Operation) =>
    diffChain('GET /a', before, after, { ...PLUGINS, authenticates: new Set(['own-auth']) }).flatMap((change) =>
      change.breaking ? [change.message] : [],
    );
  expect(of(names(), names('own'))).toEqual(['"own" runs now, of which nothing is known: it may refuse requests']);
  expect(of(names('own'), names())).toEqual([
    '"own" runs no more, of which nothing is known: requests or answers may need it',
  ]);
  expect(of(names('own-auth'), names())).toEqual([]);
  const middlewares = builtinPlugins().filter((name) => loadBuiltinPlugin(name).manifest?.type === 'middleware');
  expect(middlewares.filter(isCustom)).toEqual([]);
});

it('middlewares that may refuse requests break where they are added, others do not', () => {
  const names = (...middlewares: string[]) =>
    ({
      middlewares: middlewares.map((name) => ({ name, config: {} })),
      dispatch: { name: 'mock', config: {} },
    }) as unknown as Operation;
  const breaks = (before: Operation, after: Operation) =>
    diffChain('GET /a', before, after, PLUGINS).flatMap(({ breaking, message }) => (breaking ? [message] : []));
  const refusing = ['acl', 'ip-restriction', 'request-size-limit'];
  const harmless = ['correlation-id', 'http-log', 'response-transformer'];
  expect(breaks(names(), names(...refusing, ...harmless))).toEqual(
    refusing.map((name) => `"${name}" runs now, and may refuse what was accepted`),
  );
  expect(breaks(names(...refusing, ...harmless), names())).toEqual([]);
});

it('a firewall that only detected breaks where it blocks', () => {
  const waf = (config: Json) =>
    ({ middlewares: [{ name: 'waf', config }], dispatch: { name: 'mock', config: {} } }) as unknown as Operation;
  const breaks = (before: Json, after: Json) =>
    diffChain('GET /a', waf(before), waf(after), PLUGINS).flatMap(({ breaking, message }) =>
      breaking ? [message] : [],
    );
  expect(breaks({ mode: 'detect' }, { mode: 'block' })).toEqual(['"waf" blocks now, and may refuse what was accepted']);
  expect(breaks({ mode: 'block' }, { mode: 'detect' })).toEqual([]);
});
