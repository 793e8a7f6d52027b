// A reporter for vitest that prints the slowest files of a run. It also writes what the run has come to into the file
// that GW_TEST_REPORT names: `passed failed skipped`, then each failure with the beginning of why, those of hooks and of
// no test too. CI prints it last, where a long diff does not push it out of sight.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';
import { DURATIONS_FILE, ROOT } from './longest-first.ts';

const MESSAGE_CHARS = 1200;
/** Of the later ones of a file, which often fail for what the first one did. */
const LATER_CHARS = 160;
const SLOWEST = 20;
/** Quicker files are not worth a line. */
const SLOW_SECONDS = 1;

export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    printSlowest(modules);
    if (process.env['GW_TEST_DURATIONS']) writeDurations(modules);
    const { GW_TEST_REPORT } = process.env;
    if (GW_TEST_REPORT) writeFileSync(GW_TEST_REPORT, this.#report(modules, unhandled));
  }

  #report(modules: readonly TestModule[], unhandled: readonly SerializedError[]): string {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      let chars = MESSAGE_CHARS;
      const note = (name: string, errors: readonly SerializedError[]) => {
        failures.push(`FAILED ${module.relativeModuleId}${name && `: ${name}`}\n  ${beginning(errors, chars)}\n`);
        chars = LATER_CHARS;
      };
      for (const suite of [module, ...module.children.allSuites()]) {
        const errors = suite.errors();
        if (errors.length === 0) continue;
        counts.failed++;
        note(suite.type === 'suite' ? suite.fullName : '', errors);
      }
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        counts[state]++;
        if (state === 'failed') note(test.fullName, errors ?? []);
      }
    }
    if (unhandled.length > 0) {
      counts.failed += unhandled.length;
      failures.push(`FAILED outside of a test\n  ${beginning(unhandled, MESSAGE_CHARS)}\n`);
    }
    const { passed, failed, skipped, pending } = counts;
    return `${[`${passed} ${failed} ${skipped + pending}`, ...failures].join('\n')}\n`;
  }
}

/** Of the worker too: its start and its imports. */
function secondsOf(module: TestModule): number {
  const { duration, collectDuration, setupDuration, prepareDuration, environmentSetupDuration } = module.diagnostic();
  return (duration + collectDuration + setupDuration + prepareDuration + environmentSetupDuration) / 1000;
}

/** CPU far below the seconds means that a file waits; many processes, that it starts them. */
function printSlowest(modules: readonly TestModule[]): void {
  const slowest = modules
    .map((module) => ({ file: module.relativeModuleId, seconds: secondsOf(module), cost: module.meta().cost }))
    .filter(({ seconds }) => seconds >= SLOW_SECONDS)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST);
  if (slowest.length === 0) return;
  const rows = slowest.map(({ file, seconds, cost }) => {
    const [cpu, processes] = [cost?.cpuSeconds.toFixed(1) ?? '', String(cost?.processes ?? '')];
    return `${seconds.toFixed(1).padStart(8)} ${cpu.padStart(8)} ${processes.padStart(10)}  ${file}`;
  });
  console.log(['', ' seconds    CPU s  processes  slowest files', ...rows, ''].join('\n'));
}

/** Of the files that ran; what is known of others that are there stays. */
function writeDurations(modules: readonly TestModule[]): void {
  const before: Readonly<Record<string, number>> = JSON.parse(readFileSync(DURATIONS_FILE, 'utf8'));
  const now = modules.map((module) => [module.relativeModuleId, Math.round(secondsOf(module))] as const);
  const all = Object.entries({ ...before, ...Object.fromEntries(now) });
  const slow = all
    .filter(([file, seconds]) => seconds > 1 && existsSync(join(ROOT, file)))
    .toSorted(([a], [b]) => a.localeCompare(b));
  writeFileSync(DURATIONS_FILE, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`);
}

function beginning(errors: readonly SerializedError[], chars: number): string {
  const text = stripVTControlCharacters(errors.map(described).join('\n'))
    .split('\n')
    .filter((line) => !/^ +at .*node_modules/.test(line))
    .join('\n')
    .trim();
  return (text.length > chars ? `${text.slice(0, chars)} …` : text).replaceAll('\n', '\n  ');
}

function described({ name, message, stack = '' }: SerializedError): string {
  const said = `${name ?? 'Error'}: ${message}`;
  // Some stacks begin with the message, some have only where it was.
  return stack.includes(message) ? stack : `${said}\n${stack}`;
}
