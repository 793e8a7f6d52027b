// A reporter for vitest that writes what a test run has come to into the file that GW_TEST_REPORT names: `passed failed
// skipped`, then each failure with the beginning of why, those of hooks and of no test too. CI prints it last, where a
// long diff does not push it out of sight.
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

const MESSAGE_CHARS = 1200;
/** Of the later ones of a file, which often fail for what the first one did. */
const LATER_CHARS = 160;

export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
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
    const text = `${[`${passed} ${failed} ${skipped + pending}`, ...failures].join('\n')}\n`;
    const { GW_TEST_REPORT } = process.env;
    if (GW_TEST_REPORT) writeFileSync(GW_TEST_REPORT, text);
    else process.stderr.write(text);
  }
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
