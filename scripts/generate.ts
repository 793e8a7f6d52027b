/** Writes every file that is made from something else; CI runs it and wants no difference. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderControlCli } from '../control/src/cli/cli-doc.ts';
import { renderPaths } from '../control/src/client/paths-gen.ts';
import { renderControlMetrics } from '../control/src/telemetry/metrics-doc.ts';
import { renderAbiRows, renderSdkImports } from '../gateway/features/abi-page.ts';
import { renderKnownModels } from '../gateway/features/ai/host/proxy/models/known-models-doc.ts';
import { renderCapabilityTable } from '../gateway/features/capability-table-gen.ts';
import { renderHostFunctions } from '../gateway/features/host-functions-doc.ts';
import { renderMetrics } from '../gateway/features/metrics-doc.ts';
import { PLUGIN_GROUPS } from '../gateway/features/plugin-list.ts';
import { renderPluginLinks, renderPluginNames, renderPluginSections } from '../gateway/features/plugin-pages.ts';
import { renderCli } from '../gateway/src/cli/cli-doc.ts';
import { renderProtocol } from '../gateway/src/link/protocol-doc.ts';
import { renderLimits, renderServeOptions } from '../gateway/src/options/option-docs.ts';
import { renderProblems } from '../gateway/src/problems-doc.ts';
import { renderSharedLimits } from '../gateway/src/shares/shared-limits-doc.ts';
import { renderErrorCodes } from '../gateway/src/spec/error-codes-doc.ts';
import { renderOperatorCli } from '../operator/src/cli/cli-doc.ts';
import { generatedFiles as operatorFiles } from '../operator/src/install/generate.ts';
import { generalDashboard } from '../operator/src/objects/dashboard.ts';
import { POD_FIELDS } from '../operator/src/objects/pod-policy.ts';
import { renderPublicDocuments } from '../test/public-documents/documents.ts';
import { renderHttpDoc } from '../test/smuggling/http-doc.ts';
import { between } from './between.ts';
import { generatedChartFiles } from './charts/generate.ts';
import { renderConformance } from './conformance.ts';
import { renderSdk } from './sdk-reference.ts';

const root = join(import.meta.dirname, '..');

interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly content: string;
}

/** One line a source. */
const steps: readonly (() => readonly GeneratedFile[] | Promise<readonly GeneratedFile[]>)[] = [
  async () => [{ path: 'docs/cli.md', content: await renderCli() }],
  () => [{ path: 'docs/serve-options.md', content: renderServeOptions() }],
  () => [{ path: 'docs/production.md', content: withLimits(readFileSync(join(root, 'docs/production.md'), 'utf8')) }],
  () => [{ path: 'docs/pods.md', content: withPodFields(readFileSync(join(root, 'docs/pods.md'), 'utf8')) }],
  () => [{ path: 'docs/conformance.md', content: renderConformance() }],
  () => [{ path: 'docs/control-cli.md', content: renderControlCli() }],
  () => [{ path: 'control/src/client/paths.gen.ts', content: renderPaths() }],
  () => [{ path: 'docs/operator-cli.md', content: renderOperatorCli() }],
  () => [{ path: 'docs/error-codes.md', content: renderErrorCodes() }],
  () => [{ path: 'docs/control-metrics.md', content: renderControlMetrics() }],
  () => [{ path: 'docs/ai-models.md', content: renderKnownModels() }],
  () => [{ path: 'docs/metrics.md', content: renderMetrics() }],
  () => [{ path: 'gateway/features/capability-table.gen.ts', content: renderCapabilityTable() }],
  () => [{ path: 'docs/data-plane-protocol.md', content: renderProtocol() }],
  () => [{ path: 'docs/problems.md', content: renderProblems() }],
  () => [{ path: 'docs/shared-limits.md', content: renderSharedLimits() }],
  () => [{ path: 'docs/host-functions.md', content: renderHostFunctions() }],
  () => [{ path: 'README.md', content: withPlugins('README.md', renderPluginNames()) }],
  () => [{ path: 'docs/plugins.md', content: withPlugins('docs/plugins.md', renderPluginLinks()) }],
  () => [{ path: 'docs/reference/plugins.md', content: withPluginSections() }],
  () => [{ path: 'docs/sdk.md', content: renderSdk() }],
  () => [
    { path: 'gateway/sdk/ABI.md', content: withCapabilities('gateway/sdk/ABI.md', ['<!-- ', ' -->'], renderAbiRows()) },
  ],
  () => [
    {
      path: 'gateway/sdk/assembly/host.ts',
      content: withCapabilities('gateway/sdk/assembly/host.ts', ['// ', ''], renderSdkImports()),
    },
  ],
  () => [{ path: 'docs/public-descriptions.md', content: renderPublicDocuments() }],
  () => [{ path: 'docs/http.md', content: renderHttpDoc() }],
  () => operatorFiles(root),
  () =>
    ['operator', 'gateway'].map((chart) => ({
      path: `charts/${chart}/files/dashboard.json`,
      content: `${JSON.stringify(generalDashboard(), null, 2)}\n`,
    })),
  () => generatedChartFiles(root),
];

function withLimits(page: string): string {
  const first = '<!-- limits: made by `npm run generate` from the table of options -->';
  return between(page, first, '<!-- end of limits -->', `\n${renderLimits()}\n`);
}

function withPlugins(path: string, table: string): string {
  const first = '<!-- plugins: made by `npm run generate` from gateway/features/plugin-list.ts -->';
  return between(readFileSync(join(root, path), 'utf8'), first, '<!-- end of plugins -->', `\n${table}\n`);
}

/** Sections about dispatchers are longer than their summaries, and written by hand. */
function withPluginSections(): string {
  let page = readFileSync(join(root, 'docs/reference/plugins.md'), 'utf8');
  for (const { purpose } of PLUGIN_GROUPS) {
    if (purpose.startsWith('dispatchers')) continue;
    const first = `<!-- ${purpose}: made by \`npm run generate\` from the README of each plugin -->`;
    page = between(page, first, `<!-- end of ${purpose} -->`, `${renderPluginSections(purpose)}\n`);
  }
  return page;
}

/** The part of a file that capabilities bring, between two comments. */
function withCapabilities(path: string, [open, close]: readonly [string, string], content: string): string {
  const first = `${open}capabilities: made by \`npm run generate\` from gateway/features${close}`;
  return between(readFileSync(join(root, path), 'utf8'), first, `${open}end of capabilities${close}`, content);
}

function withPodFields(page: string): string {
  const first = '<!-- pod fields: made by `npm run generate` from the table of fields -->';
  const rows = Object.entries(POD_FIELDS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |\n`);
  const table = `\n| name | allows |\n|---|---|\n${rows.join('')}\n`;
  return between(page, first, '<!-- end of pod fields -->', table);
}

for (const step of steps) {
  for (const { path, content } of await step()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
