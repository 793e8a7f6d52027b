/** `gw plugin test`: runs a plugin's cases on the gateway's own runtime. */
import { relative, resolve } from 'node:path';
import { Command } from 'commander';
import type { LogLine, PluginKit } from '../../../sdk/testing/index.ts';
import type { PluginManifest } from '../../compiler/project/project.ts';
import { messageOf } from '../../text/message-of.ts';
import { structured } from '../command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { formatOption, oldSpelling, presence } from '../command-line/variables.ts';
import type { Difference } from './case-run.ts';
import type { CaseHook, PluginCase } from './cases.ts';
import type { CaseHint } from './hints.ts';

/** The plugin, or a file of cases, cannot be used. */
const EXIT_UNUSABLE = 2;

const HELP = `
Examples:
  $ gw plugin test
  $ gw plugin test plugins/hello --format json

Cases are lists in tests/*.yaml of the plugin's folder:
  - name: refuses who says no name
    config: {}
    request: { method: GET, path: /, headers: { accept: "*/*" } }
    expect: { outcome: answered, answer: { status: 403 } }
  - name: lets customers of a known tenant pass
    request: { headers: { x-tenant: acme } }
    http_calls: [{ url: https://tenants.example/v1/acme, status: 200, json: { plan: gold } }]
    expect: { outcome: continue }

No connection is made: HTTP calls are answered by http_calls, and a call without an answer fails its case. With --network
calls go to real servers instead.

Exit codes: 0 all cases hold, 1 some do not, 2 the plugin or a file of cases cannot be used.`;

interface CaseResult {
  readonly file: string;
  readonly name: string;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  /** Logs of a failed case. */
  readonly logs: readonly LogLine[];
  readonly hints: readonly CaseHint[];
}

export function pluginTestCommand(program: Program): Command {
  return new Command('test')
    .description("Run a plugin's cases, without a gateway around it.")
    .argument('[folder]', "the plugin's folder", '.')
    .addOption(formatOption(['text', 'json']))
    .addOption(oldSpelling('--json', '--format json').implies({ format: 'json' }))
    .addOption(presence('--network', 'let plugins reach real servers, in place of http_calls', program))
    .addHelpText('after', HELP)
    .action((folder: string, flags: Flags) => run(resolve(folder), flags, program));
}

interface Flags {
  readonly format: string;
  readonly network: boolean;
}

async function run(folder: string, { format, network }: Flags, { stdout, stderr, exit }: Program): Promise<void> {
  let results: readonly CaseResult[];
  try {
    results = await resultsOf(folder, network);
  } catch (error) {
    stderr(`gw plugin test: ${messageOf(error)}\n`);
    return exit(EXIT_UNUSABLE);
  }
  const failed = results.filter(({ passed }) => !passed).length;
  const summary = { total: results.length, passed: results.length - failed, failed };
  stdout((await structured(format, { results, summary })) ?? describe(results, summary));
  exit(failed === 0 ? 0 : EXIT_FAILURE);
}

async function resultsOf(folder: string, network: boolean): Promise<readonly CaseResult[]> {
  const [{ testPlugin }, { caseFilesOf, readCases }, { checkBuilt, readManifestOf }] = await Promise.all([
    import('../../../sdk/testing/index.ts'),
    import('./cases.ts'),
    import('./package.ts'),
  ]);
  const files = await caseFilesOf(folder);
  const cases = await Promise.all(files.map(async (file) => ({ file, cases: await readCases(file) })));
  const manifest = await readManifestOf(folder);
  await checkBuilt(folder);
  const kit = await testPlugin(folder, { network });
  const results: CaseResult[] = [];
  try {
    for (const { file, cases: listed } of cases) {
      for (const each of listed) results.push(await resultOf(kit, manifest, relative(folder, file), each, network));
    }
  } finally {
    kit.close();
  }
  return results;
}

async function resultOf(
  kit: PluginKit,
  { type, host_functions: declared }: PluginManifest,
  file: string,
  each: PluginCase,
  network: boolean,
): Promise<CaseResult> {
  const [{ callOf, runCase }, { hintOfMemory, hintsOfFailure, hintsOfStubs }] = await Promise.all([
    import('./case-run.ts'),
    import('./hints.ts'),
  ]);
  const hook = each.hook ?? standardHook(type, each);
  const run = await runCase(kit, each, hook);
  const passed = run.differences.length === 0;
  const hints: CaseHint[] = passed ? [] : [...hintsOfFailure(run, declared)];
  const ofMemory = run.result && (await hintOfMemory(kit, callOf(each, hook), run.result, declared));
  if (ofMemory) hints.push(ofMemory);
  if (run.result && !network) hints.push(...hintsOfStubs(run.result));
  const logs = passed ? [] : (run.result?.logs ?? []);
  return { file, name: each.name, passed, differences: run.differences, logs, hints };
}

function standardHook(type: 'dispatcher' | 'middleware', { response }: PluginCase): CaseHook {
  if (type === 'dispatcher') return 'dispatch';
  return response ? 'on_response' : 'on_request';
}

function describe(
  results: readonly CaseResult[],
  { total, passed, failed }: { readonly total: number; readonly passed: number; readonly failed: number },
): string {
  const files = [...new Set(results.map(({ file }) => file))];
  const lines = files.flatMap((file) => [
    file,
    ...results
      .filter((each) => each.file === file)
      .flatMap(({ name, passed: ok, differences, logs, hints }) => [
        `  ${ok ? '✓' : '✗'} ${name}`,
        ...differences.flatMap(({ at, expected, actual }) => [
          `      ${at}:`,
          `        expected ${JSON.stringify(expected)}`,
          `        got      ${JSON.stringify(actual)}`,
        ]),
        ...logs.map(({ level, message }) => `      log (${level}): ${message}`),
        ...hints.map(({ finding }) => `      hint: ${finding}`),
      ]),
  ]);
  const advice = new Set(results.flatMap(({ hints }) => hints.map((each) => `\n${each.advice}\n`)));
  return `${lines.join('\n')}\n${total} case${total === 1 ? '' : 's'}: ${passed} passed, ${failed} failed\n${[...advice].join('')}`;
}
