import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { readsAsAnother } from './other-readings.ts';
import { Router } from './router.ts';

function routerOf(...templates: readonly string[]): Router<string> {
  const router = new Router<string>();
  for (const template of templates) router.add('GET', template, template);
  return router;
}

/** What becomes of a request: the operation, `400`, or `404`. */
function outcome(router: Router<string>, path: string): string {
  const { value } = router.find('GET', path);
  if (value === null) return '404';
  return readsAsAnother(router, { method: 'GET', path }, value, value) ? '400' : value;
}

const TEMPLATES = ['/files/{path+}', '/files/private/{name}', '/users/{id}', '/users/{id}/keys', '/admin'];
const router = routerOf(...TEMPLATES);

const withAll = routerOf(...TEMPLATES, '/{rest+}');

describe('a path with other readings', () => {
  it.each([
    ...[
      '/files/private%2Fx',
      '/files/private%2fx',
      '/files/private%5Cx',
      '/files/private%252Fx',
      '/files/private%25252fx',
    ],
    ...['/admin/', '/admin//', '/admin%2f', '/admin%3Bx', '/x/%2e%2e%3b/admin'],
    ...['/files//private/x', '/files/x;/../private/y', '/files/private;v=1/x', '/files/.;/private/x'],
    ...[
      '/users/1%2Fkeys',
      '/users/..%2f..%2fadmin',
      '/users/%2e%2e%2fadmin',
      '/files/x/..;/../admin',
      '/users/..;a%2f..%2Fadmin',
    ],
  ])('is refused if one of them is that of another operation: %s', (path) => {
    expect(outcome(withAll, path)).toBe('400');
  });

  it.each([
    ['/items/5/', '/items/{id}/'],
    ['/items/5', '/items/{id}'],
    ['/files/a/', '/files/{path+}'],
  ])('has a slash at its end where its template has one, or no other operation is without it: %s', (path, expected) => {
    expect(outcome(routerOf('/items/{id}', '/items/{id}/', '/files/{path+}'), path)).toBe(expected);
  });

  it.each([
    ['/files/a%2Fb', '/files/{path+}'],
    ['/files/a//b;v=1/100%25', '/files/{path+}'],
    ['/files/privateer%2Fx', '/files/{path+}'],
    ['/files/.hidden', '/files/{path+}'],
    ['/users/a%2Fb', '/users/{id}'],
    ['/users/a;b=c', '/users/{id}'],
    ['/users/100%25', '/users/{id}'],
    ['/files/private/x', '/files/private/{name}'],
    ['/nowhere%2F', '404'],
  ])('is served as it is where none is: %s', (path, expected) => {
    expect(outcome(router, path)).toBe(expected);
  });

  it('costs no more where an encoding goes on and on', () => {
    const path = `/files/${'%25'.repeat(2700)}2Fx`;
    expect(outcome(router, path)).toBe('/files/{path+}');
  });
});

/** What servers do to a path, one at a time and in any order. */
const normalisers: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll(/%2f|%5c/gi, '/'),
  (path) => path.replaceAll('%25', '%'),
  (path) => path.replaceAll(/%3b/gi, ';'),
  (path) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path),
  (path) => path.replaceAll(/\/+/g, '/'),
  (path) => path.replaceAll(/;[^/]*/g, ''),
  (path) => new URL(path.replaceAll('//', '/%20/'), 'http://x').pathname.replaceAll('/%20/', '//'),
];

describe('what the router matched', () => {
  it('is what the upstream matches, however it reads the path, or nothing', () => {
    const word = fc.constantFrom('a', 'b', '{p}', 'x{p}', '{p}.pdf');
    const template = fc.tuple(fc.array(word, { minLength: 1, maxLength: 3 }), fc.boolean()).map(([words, greedy]) => {
      const named = words.map((each, i) => each.replace('{p}', `{p${i}}`));
      return `/${[...named, ...(greedy ? ['{rest+}'] : [])].join('/')}`;
    });
    const piece = fc.constantFrom(
      ...[
        'a',
        'b',
        'x1',
        'c.pdf',
        '/',
        '/',
        '//',
        '%2F',
        '%5c',
        '%25',
        '%252f',
        '%3b',
        ';',
        ';v=1',
        '.',
        '..',
        '%2e',
        '%2E%2e',
      ],
    );
    const path = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => `/${pieces.join('')}`);
    const order = fc.array(fc.constantFrom(...normalisers), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.uniqueArray(template, { minLength: 1, maxLength: 5 }), path, order, (templates, sent, server) => {
        const router = new Router<string>();
        for (const each of templates) {
          try {
            router.add('GET', each, each);
          } catch {
            // Two of them are one.
          }
        }
        const matched = outcome(router, sent);
        if (matched === '400' || matched === '404') return;
        const read = server.reduce((text, normalise) => normalise(text), sent);
        const { value } = router.find('GET', read);
        expect(value === null || value === matched, `${sent} as ${matched}, ${read} as ${value}`).toBe(true);
      }),
      propertyRuns(5000),
    );
  });
});
