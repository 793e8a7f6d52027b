/**
 * Patches of operations in documents: they do what they say, and leave the rest as it was written
 * (docs/reference/control-plane.md#spec-operations).
 */
import { parseText } from '@gw/gateway/spec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { PatchRefused } from './edit-text.ts';
import { patchUpload } from './patch-operations.ts';
import type { OperationsPatch } from './schemas.ts';

async function patched(text: string, patch: OperationsPatch, filename = 'books.yaml'): Promise<string | null> {
  const task = { filename, name: 'books', form: 'document', entry: filename, bindings: [], patch } as const;
  const given = Buffer.from(text);
  const { bytes } = await patchUpload({ ...task, bytes: given });
  return bytes === given ? null : Buffer.from(bytes).toString();
}

const YAML = `# Books, for all.
openapi: 3.1.0
info: { title: Books, version: "1" }   # one line
paths:
  /books:
    get:
      operationId: listBooks
      # Answered here.
      x-gw-dispatch:
        name: mock   # for now
        config:
          body: '[]'
      responses:
        "200": { description:   The books }

    post: { operationId: addBook, x-gw-dispatch: {name: mock} , responses: {} }
  /books/{id}:
    get:
      x-gw-middlewares:
        - name: cors
        - { name: rate-limit, config: { quota: 5 } }
      x-gw-dispatch: &here { name: mock }
    delete:
      operationId: removeBook
      x-gw-dispatch: *here
      description: |
        Many lines,
        as they are.
# The end.
`;

const JSON_TEXT = `{
    "openapi": "3.1.0", "info": {"title":"Books","version":"1"},
    "paths": {
        "/books": {
            "get": {
                "operationId": "listBooks",
                "x-gw-dispatch": {"name": "mock"},
                "responses": {  }
            },
            "post": {"operationId":"addBook"}, "put": {}
        }
    }
}
`;

describe('a patch of operations in YAML', () => {
  it('replaces a binding, and nothing else', async () => {
    const patch = { listBooks: { dispatch: { config: { body: null, status: 204 } } } };
    expect(await patched(YAML, patch)).toBe(
      YAML.replace(
        `        name: mock   # for now\n        config:\n          body: '[]'\n`,
        '        name: mock\n        config:\n          status: 204\n',
      ),
    );
  });

  it('adds bindings behind the others, and in flow style where that is the style', async () => {
    const patch = {
      listBooks: { middlewares: [{ name: 'cors', config: { allowed_origins: ['*'] } }] },
      addBook: { middlewares: [{ name: 'cors' }] },
      removeBook: { middlewares: [{ name: 'acl' }] },
    };
    const added = `      x-gw-middlewares:\n        - name: cors\n          config:\n            allowed_origins:\n              - "*"\n`;
    expect(await patched(YAML, patch)).toBe(
      YAML.replace(`The books }\n`, `The books }\n${added}`)
        .replace('responses: {} }', 'responses: {}, x-gw-middlewares: [{"name":"cors"}] }')
        .replace('as they are.\n', 'as they are.\n      x-gw-middlewares:\n        - name: acl\n'),
    );
  });

  it('removes what is null, with its lines, and takes METHOD /path for a name', async () => {
    const patch = { 'GET /books/{id}': { middlewares: null }, addBook: { dispatch: null } };
    expect(await patched(YAML, patch)).toBe(
      YAML.replace(/ {6}x-gw-middlewares:\n(.*\n){2}/, '').replace(', x-gw-dispatch: {name: mock}', ''),
    );
  });

  it('breaks no alias: it says that the document is to be edited', async () => {
    const refused = patched(YAML, { 'GET /books/{id}': { dispatch: { name: 'http-upstream' } } });
    await expect(refused).rejects.toThrow(PatchRefused);
    expect(await patched(YAML, { removeBook: { dispatch: { name: 'http-upstream' } } })).toBe(
      YAML.replace('x-gw-dispatch: *here', 'x-gw-dispatch:\n        name: http-upstream'),
    );
  });

  it('keeps the line ends and the byte order mark', async () => {
    const windows = `\ufeff${YAML.replaceAll('\n', '\r\n')}`;
    const patch = { listBooks: { dispatch: { name: 'http-upstream', config: null } } };
    expect(await patched(windows, patch)).toBe(
      windows.replace(/name: mock {3}# for now\r\n.*\r\n.*\r\n/, 'name: http-upstream\r\n'),
    );
  });
});

describe('a patch of operations in JSON', () => {
  it('keeps the indentation', async () => {
    const patch = {
      listBooks: { dispatch: { config: { status: 204 } }, middlewares: [{ name: 'cors' }] },
      addBook: { dispatch: { name: 'mock' } },
      'PUT /books': { dispatch: { name: 'mock' } },
    };
    const pad = '\n                ';
    expect(await patched(JSON_TEXT, patch, 'books.json')).toBe(
      JSON_TEXT.replace(
        '{"name": "mock"}',
        `{${pad}    "name": "mock",${pad}    "config": {${pad}        "status": 204${pad}    }${pad}}`,
      )
        .replace('{  }', `{  },${pad}"x-gw-middlewares": [${pad}    {${pad}        "name": "cors"${pad}    }${pad}]`)
        .replace('"addBook"}', '"addBook","x-gw-dispatch":{"name":"mock"}}')
        .replace('"put": {}', '"put": {"x-gw-dispatch": {"name":"mock"}}'),
    );
  });

  it('removes members wherever they stand', async () => {
    const text = JSON_TEXT.replace('"operationId": "listBooks",\n                ', '');
    const patch = { 'GET /books': { dispatch: null }, 'PUT /books': { middlewares: null } };
    expect(await patched(text, patch, 'books.json')).toBe(
      text.replace('"x-gw-dispatch": {"name": "mock"},\n                ', ''),
    );
  });
});

describe('a patch that cannot be', () => {
  it('names the operations that there are', async () => {
    await expect(patched(YAML, { nothing: {} })).rejects.toThrow(
      'there is no operation "nothing": there are listBooks, addBook, removeBook, GET /books/{id}',
    );
  });

  it('needs a dispatcher’s name where there is none', async () => {
    await expect(patched(JSON_TEXT, { addBook: { dispatch: { config: {} } } }, 'b.json')).rejects.toThrow(
      'its "dispatch" needs a name',
    );
  });
});

const json = fc.jsonValue({ maxDepth: 3 });
const config = fc.dictionary(fc.string(), json, { maxKeys: 4 });
const use = fc.record({ name: fc.constantFrom('mock', 'cors', 'acl'), config }, { requiredKeys: ['name'] });
const operation = fc.record(
  {
    summary: fc.string(),
    'x-gw-dispatch': use,
    'x-gw-middlewares': fc.array(use, { maxLength: 3 }),
    'x-data': json,
  },
  { requiredKeys: [] },
);
const paths = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,3}$/),
  fc.dictionary(fc.constantFrom('get', 'post', 'delete'), operation, { minKeys: 1 }),
  { minKeys: 1, maxKeys: 3 },
);
const change = fc.record(
  { dispatch: fc.option(use), middlewares: fc.option(fc.array(use, { maxLength: 3 })) },
  { requiredKeys: [] },
);
/** As people and tools write documents. */
const style = fc.constantFrom<(value: unknown) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => JSON.stringify(value, null, '\t'),
  (value) => stringify(value, { aliasDuplicateObjects: false }),
  (value) => stringify(value, { aliasDuplicateObjects: false, collectionStyle: 'flow' }),
);

describe('any patch of any document', () => {
  it('changes what it names and nothing else, and a second time nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        paths,
        style,
        fc.array(change, { minLength: 3, maxLength: 3 }),
        async (items, write, changes) => {
          // The library writes the merge key as it writes any other: such documents do not mean what was written.
          fc.pre(!JSON.stringify([items, changes]).includes('<<'));
          const operations = Object.entries(items).flatMap(([path, item]) =>
            Object.keys(item).map((method) => `${method.toUpperCase()} /${path}`),
          );
          const patch = Object.fromEntries(operations.slice(0, 3).map((name, i) => [name, changes[i] ?? {}]));
          const given = Object.fromEntries(Object.entries(items).map(([path, item]) => [`/${path}`, item]));
          const text = write({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: given });
          const before = parsed(text);
          const after = (await patched(text, patch)) ?? text;
          expect(without(parsed(after), patch)).toEqual(without(before, patch));
          for (const [name, { dispatch, middlewares }] of Object.entries(patch)) {
            const [method = '', path = ''] = name.toLowerCase().split(' ');
            const result = parsed(after).paths[path]?.[method];
            if (dispatch === null) expect(result).not.toHaveProperty('x-gw-dispatch');
            else if (dispatch) expect(result).toHaveProperty('x-gw-dispatch.name', dispatch.name);
            if (middlewares === null) expect(result).not.toHaveProperty('x-gw-middlewares');
            else if (middlewares) expect(result?.['x-gw-middlewares']).toEqual(middlewares);
          }
          expect(await patched(after, patch)).toBeNull();
        },
      ),
      propertyRuns(60),
    );
  });
});

interface Read {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
}

function parsed(text: string): Read {
  const result = parseText(Buffer.from(text));
  if (!result.ok) throw new Error(result.message);
  return result.value as Read;
}

/** The document but for the bindings that the patch names. */
function without(document: Read, patch: OperationsPatch): unknown {
  const names = { dispatch: 'x-gw-dispatch', middlewares: 'x-gw-middlewares' };
  const isNamed = (path: string, method: string, key: string) =>
    Object.keys(patch[`${method.toUpperCase()} ${path}`] ?? {}).some((field) => Reflect.get(names, field) === key);
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.entries(item).map(([method, members]) => [
      method,
      Object.entries(members).filter(([key]) => !isNamed(path, method, key)),
    ]),
  ]);
  return { ...document, paths };
}
