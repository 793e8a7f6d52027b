/** Strategic merge patches: each as `kubectl patch --local` does it, which is asked where it is there. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@gw/gateway/artifact';
import { describe, expect, it } from 'vitest';
import { PatchError, strategicMerge } from './strategic-merge.ts';
import { TEMPLATE_MERGE_KEYS } from './template-patch.ts';

const template: JsonObject = {
  metadata: { labels: { app: 'x' }, annotations: { note: 'old' } },
  spec: {
    terminationGracePeriodSeconds: 30,
    nodeSelector: { disk: 'ssd', zone: 'a' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    containers: [
      {
        name: 'gateway',
        image: 'gw:1',
        args: ['serve', '--artifact', '/artifact'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
      },
    ],
    volumes: [
      { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
      { name: 'artifact', configMap: { name: 'x' } },
    ],
  },
};

const PATCHES: readonly (readonly [string, JsonObject])[] = [
  ['a field is set, another deleted', { spec: { hostname: 'h', terminationGracePeriodSeconds: null } }],
  ['maps merge', { metadata: { annotations: { note: 'new', more: 'yes' } }, spec: { nodeSelector: { zone: null } } }],
  ['a container is changed by name', { spec: { containers: [{ name: 'gateway', image: 'gw:2' }] } }],
  ['a container comes beside it', { spec: { containers: [{ name: 'proxy', image: 'p:1' }] } }],
  [
    'variables merge by name, ports by number, mounts by path',
    {
      spec: {
        containers: [
          {
            name: 'gateway',
            env: [
              { name: 'B', value: '3' },
              { name: 'C', value: '4' },
            ],
            ports: [
              { containerPort: 8080, hostPort: 80 },
              { containerPort: 9000, name: 'more' },
            ],
            volumeMounts: [{ mountPath: '/tmp', name: 'tmp', readOnly: true }],
          },
        ],
      },
    },
  ],
  ['lists of plain values are replaced', { spec: { containers: [{ name: 'gateway', args: ['only'] }] } }],
  ['lists without a merge key are replaced', { spec: { tolerations: [{ key: 'b', operator: 'Exists' }] } }],
  ['an element is deleted', { spec: { containers: [{ name: 'gateway', env: [{ name: 'A', $patch: 'delete' }] }] } }],
  ['what is not there is deleted', { spec: { volumes: [{ name: 'none', $patch: 'delete' }] } }],
  [
    'a list is replaced',
    { spec: { containers: [{ name: 'gateway', env: [{ $patch: 'replace' }, { name: 'Z', value: '9' }] }] } },
  ],
  ['a map is replaced', { spec: { nodeSelector: { $patch: 'replace', only: 'this' } } }],
  [
    'the source of a volume is another one',
    { spec: { volumes: [{ name: 'tmp', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] } },
  ],
  ['an init container, where there was none', { spec: { initContainers: [{ name: 'init', image: 'i:1' }] } }],
];

/** What kubectl makes of it; undefined where there is no kubectl. */
function byKubectl(original: JsonObject, patch: JsonObject): unknown {
  const dir = mkdtempSync(join(tmpdir(), 'gw-patch-'));
  try {
    const file = join(dir, 'x.json');
    const object = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x' },
      spec: { selector: {}, template: original },
    };
    writeFileSync(file, JSON.stringify(object));
    const patched = JSON.stringify({ spec: { template: patch } });
    const args = ['patch', '--local', '--type=strategic', '-f', file, '-p', patched, '-o', 'json'];
    return JSON.parse(execFileSync('kubectl', args, { encoding: 'utf8' })).spec.template;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The order of elements of merged lists means nothing, nor does that of fields. */
function unordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unordered).toSorted((a, b) => text(a).localeCompare(text(b)));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(entries.map(([name, each]) => [name, unordered(each)]));
}
const text = (value: unknown) => JSON.stringify(value);

const mustRun = process.env['GW_NO_SKIP'] === '1';

describe.skipIf(!hasKubectl() && !mustRun)('a strategic merge patch, as kubectl applies it', () => {
  it.each(PATCHES)('%s', (_, patch) => {
    expect(unordered(strategicMerge(template, patch, TEMPLATE_MERGE_KEYS))).toEqual(
      unordered(byKubectl(template, patch)),
    );
  });
});

describe('a strategic merge patch', () => {
  it('keeps what it does not name, and the order of what there is', () => {
    const patch = { spec: { containers: [{ name: 'gateway', env: [{ name: 'C', value: '3' }] }] } };
    const merged = JSON.stringify(strategicMerge(template, patch, TEMPLATE_MERGE_KEYS));
    expect(merged).toContain('"env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"C","value":"3"}]');
    expect(strategicMerge(template, {}, TEMPLATE_MERGE_KEYS)).toEqual(template);
  });

  it.each([
    ['an unknown directive', { spec: { $patch: 'append' } }, 'spec: $patch is "append"'],
    ['an unknown field of ours', { spec: { $merge: true } }, 'spec: "$merge" is not a directive'],
    [
      'an element without its key',
      { spec: { containers: [{ image: 'x' }] } },
      'spec.containers: an element has no "name"',
    ],
    ['an element that is no object', { spec: { volumes: ['x'] } }, 'spec.volumes: an element is not an object'],
    [
      'a replacement that says more',
      { spec: { volumes: [{ name: 'tmp', $patch: 'replace' }] } },
      'spec.volumes: an element with $patch: replace',
    ],
  ] satisfies [string, JsonObject, string][])('refuses %s, and says where', (_, patch, message) => {
    const merge = () => strategicMerge(template, patch, TEMPLATE_MERGE_KEYS);
    expect(merge).toThrow(PatchError);
    expect(merge).toThrow(message);
  });

  it('takes values out of a list of plain ones', () => {
    const merged = strategicMerge({ a: ['x', 'y'] }, { '$deleteFromPrimitiveList/a': ['x'] }, new Map());
    expect(merged).toEqual({ a: ['y'] });
  });
});
