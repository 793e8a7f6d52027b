import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { generatedChartFiles, valuesTable } from './generate.ts';
import { readValues } from './values-file.ts';
import { valuesSchema } from './values-schema.ts';

const root = join(import.meta.dirname, '..', '..');
const schema = (text: string) => valuesSchema('test', readValues(text));

/** Pointers of the objects in a schema that do not say what may stand in them. */
function open(value: unknown, at = '#'): readonly string[] {
  if (!isRecord(value)) return [];
  const here = value['type'] === 'object' && value['additionalProperties'] === undefined ? [at] : [];
  return [...here, ...Object.entries(value).flatMap(([name, inner]) => open(inner, `${at}/${name}`))];
}

describe('files of charts', () => {
  it.each(generatedChartFiles(root).map(({ path, content }) => [path, content] as const))(
    '%s is what `npm run generate` makes, and admits no value that it does not name',
    (path, content) => {
      expect(readFileSync(join(root, path), 'utf8')).toBe(content);
      if (path.endsWith('.json')) expect(open(JSON.parse(content))).toEqual([]);
    },
  );

  it('take types from defaults, and more from @schema', () => {
    const text = `# Pods
# at once.
# @schema {minimum: 1}
replicas: 2
tls:
  # Its Secret.
  secret: ""
# Labels.
# @schema stringMap
labels: {}
# Default: what gw has.
# @schema {type: string, enum: [a, b]}
mode: null
`;
    expect(schema(text)).toMatchObject({
      additionalProperties: false,
      properties: {
        replicas: { type: 'integer', minimum: 1, description: 'Pods at once.' },
        tls: { type: 'object', additionalProperties: false, properties: { secret: { type: 'string' } } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        mode: { type: ['string', 'null'], enum: ['a', 'b', null] },
      },
    });
    expect(valuesTable(readValues(text)).split('\n').slice(2)).toEqual([
      '| `replicas` | `2` | Pods at once. |',
      '| `tls.secret` | `""` | Its Secret. |',
      '| `labels` | `{}` | Labels. |',
      '| `mode` |  | Default: what gw has. One of `a`, `b`. |',
    ]);
  });

  it.each([
    ['replicas: 1', /replicas: put a comment above it/],
    ['# Above a blank line.\n\nreplicas: 1', /replicas: put a comment above it/],
    ['# Labels.\nlabels: {}', /labels: .*@schema/],
    ['# Labels.\n# @schema stringMapp\nlabels: {}', /labels: no shape "stringMapp"/],
    ['[a]', /expected a map/],
    ['a: [', /values.yaml|Flow sequence/],
  ])('do not come of values.yaml with %j', (text, message) => {
    expect(() => schema(text)).toThrow(message);
  });
});
