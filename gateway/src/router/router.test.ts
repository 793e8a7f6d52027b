import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { Router } from './router.ts';
import { parseTemplate, TemplateError } from './template.ts';

function router(...routes: string[]): Router<string> {
  const made = new Router<string>();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    made.add(method, path, route);
  }
  return made;
}

describe('router', () => {
  const bookstore = router(
    'GET /books',
    'POST /books',
    'GET /books/{id}',
    'GET /books/new',
    'GET /books/{id}/reviews/{review}',
    'DELETE /books/new/x',
    'GET /files/{path+}',
    'GET /files/index',
    'GET /reports/{year}-{month}.pdf',
    'GET /reports/{name}',
    'GET /',
  );

  it.each([
    ['GET', '/books', 'GET /books', []],
    ['HEAD', '/books', 'GET /books', []],
    ['GET', '/books/42', 'GET /books/{id}', ['42']],
    ['GET', '/books/new', 'GET /books/new', []],
    ['GET', '/books/%6eew', 'GET /books/new', []],
    ['GET', '/books/a%2Fb', 'GET /books/{id}', ['a%2Fb']],
    ['GET', '/books/new/reviews/7', 'GET /books/{id}/reviews/{review}', ['new', '7']],
    ['GET', '/files/index', 'GET /files/index', []],
    ['GET', '/files/a/b%20c/d', 'GET /files/{path+}', ['a/b%20c/d']],
    ['GET', '/reports/2024-06.pdf', 'GET /reports/{year}-{month}.pdf', ['2024', '06']],
    ['GET', '/reports/2024.pdf', 'GET /reports/{name}', ['2024.pdf']],
    ['GET', '/', 'GET /', []],
  ])('%s %s is %s', (method, path, value, params) => {
    expect(bookstore.find(method, path)).toEqual({ value, params });
  });

  it.each([
    ['GET', '/nothing', []],
    ['GET', '/books/', []],
    ['GET', '//books', []],
    ['GET', '/files/', []],
    ['GET', 'books', []],
    ['GET', '*', []],
    ['PUT', '/books', ['GET', 'HEAD', 'POST']],
    ['PUT', '/books/new', ['GET', 'HEAD']],
    ['GET', '/books/new/x', ['DELETE']],
    ['PUT', '/files/a/b', ['GET', 'HEAD']],
  ])('%s %s has no operation (allow %j)', (method, path, allow) => {
    expect(bookstore.find(method, path)).toEqual({ value: null, allow });
  });

  it('refuses malformed templates with the reason', () => {
    for (const bad of ['books', '/{', '/{}', '/a}', '/{id}{x}', '/{rest+}/more', '/x-{rest+}', '/{a}/{a}', '/{+}']) {
      expect(() => parseTemplate(bad), bad).toThrow(TemplateError);
    }
  });

  it('agrees with a naive router on random routes and paths', () => {
    const segment = fc.constantFrom('a', 'b', 'c', '{x}', '{y}', '{x}.json');
    const template = fc
      .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([parts, greedy]) => {
        let n = 0;
        const named = parts.map((part) => part.replace(/\{.\}/, () => `{p${n++}}`));
        return `/${[...named, ...(greedy ? [`{p${n}+}`] : [])].join('/')}`;
      });
    const path = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd', 'a.json', '%61', ''), { minLength: 1, maxLength: 5 })
      .map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(fc.uniqueArray(template, { maxLength: 12 }), path, (templates, wanted) => {
        const made = new Router<string>();
        const kept = templates.filter((each) => {
          try {
            made.add('GET', each, each);
            return true;
          } catch {
            return false;
          }
        });
        const best = naive(kept, wanted);
        const found = made.find('GET', wanted);
        expect(found.value).toBe(best);
      }),
      propertyRuns(2000),
    );
  });
});

/** Ranks every template that matches, segment by segment: static, pattern, parameter, greedy. */
function naive(templates: readonly string[], path: string): string | null {
  const segments = path.slice(1).split('/').map(decodeURIComponent);
  const ranked = templates.flatMap((template) => {
    const parts = template.slice(1).split('/');
    const greedy = template.endsWith('+}');
    if (greedy ? segments.length < parts.length : segments.length !== parts.length) return [];
    const rank: number[] = [];
    for (const [i, part] of parts.entries()) {
      const segment = segments[i] as string;
      if (part.endsWith('+}')) {
        if (segments.slice(i).join('/') === '') return [];
        rank.push(3);
      } else if (part.endsWith('.json') && part.startsWith('{')) {
        if (!segment.endsWith('.json') || segment.length <= 5) return [];
        rank.push(1);
      } else if (part.startsWith('{')) {
        if (segment === '') return [];
        rank.push(2);
      } else if (part === segment) rank.push(0);
      else return [];
    }
    return [{ template, rank: rank.join('') }];
  });
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked[0]?.template ?? null;
}
