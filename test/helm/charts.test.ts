/** What holds of every chart, for each of the values files in its folder ci/. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { execute } from '../e2e/kubectl.ts';
import { at, charts, fromValues, hasHelm, ofKind, render, renderText, root, valuesFiles, withoutHelm } from './helm.ts';

const names = readdirSync(charts, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const cases = names.flatMap((chart) => valuesFiles(chart).map((file) => [chart, file] as const));
/** What comes of other files, and is tested beside them. */
const GENERATED = /^kind: (CustomResourceDefinition|ClusterRole|Role)$|^ {2}name: .*-dashboard$/m;
/** What a release's Secret may hold, and what a chart may take of it: values and notes are in there, too. */
const SECRET_BYTES = 1_048_576;

describe.skipIf(!hasHelm)(`charts${withoutHelm}`, () => {
  it.each(cases)('%s is clean to helm lint with %s', async (chart, file) => {
    const lint = ['lint', '--strict', join(charts, chart), ...fromValues(chart, file)];
    expect(await execute('helm', lint)).toContain('0 chart(s) failed');
  });

  it.each(cases)('%s renders with %s what is kept beside this test', async (chart, file) => {
    const text = await renderText(chart, ...fromValues(chart, file));
    const documents = text.split(/^---\n/m).filter((document) => !GENERATED.test(document));
    await expect(documents.join('---\n')).toMatchFileSnapshot(join('golden', `${chart}-${file}`));
  });

  it.each(cases)('%s runs nothing with %s that is not restricted', async (chart, file) => {
    const objects = await render(chart, ...fromValues(chart, file));
    const specs = objects.flatMap((object) => [at(object, 'spec.template.spec'), ofKind([object], 'Pod')[0]?.['spec']]);
    const pods = specs.filter((spec) => at(spec, 'containers') !== undefined);
    expect(pods.length).toBeGreaterThan(0);
    for (const pod of pods) {
      expect(at(pod, 'securityContext')).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      const containers = [at(pod, 'containers'), at(pod, 'initContainers')].flat().filter(Boolean);
      for (const container of containers) {
        expect(at(container, 'securityContext')).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(at(container, 'resources.limits.memory')).toBeDefined();
      }
    }
  });

  it.each(cases)('%s gives with %s no right by wildcard', async (chart, file) => {
    const objects = await render(chart, ...fromValues(chart, file));
    for (const role of [...ofKind(objects, 'Role'), ...ofKind(objects, 'ClusterRole')])
      expect(JSON.stringify(role['rules'])).not.toContain('*');
  });

  it.each(cases)('a release of %s with %s fits into its Secret', async (chart, file) => {
    const text = await renderText(chart, ...fromValues(chart, file));
    const folder = join(charts, chart);
    const sources = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'base64'));
    // A release is its chart's files and its manifest as JSON, gzipped, in base64, and so in the Secret once more.
    const release = gzipSync(JSON.stringify({ text, sources })).toString('base64');
    expect(release.length).toBeLessThan(SECRET_BYTES / 2);
  });

  it.each(names)('%s names the version of the image that it is for', (chart) => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { appVersion } = parse(readFileSync(join(charts, chart, 'Chart.yaml'), 'utf8'));
    expect(appVersion).toBe(version);
  });
});
