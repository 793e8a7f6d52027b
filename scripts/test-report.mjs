// What a test run has come to, from vitest's JSON report (the argument): each failed test with the beginning of why on
// stderr, and `passed failed skipped` on stdout. CI prints it last, where a long diff does not push it out of sight.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const MESSAGE_CHARS = 600;
/** Of the later ones of a file, which often fail for what the first one did. */
const LATER_CHARS = 160;

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
let suites = 0;
for (const file of report.testResults) {
  const name = relative(process.cwd(), file.name);
  const failed = file.assertionResults.filter((test) => test.status === 'failed');
  for (const [i, test] of failed.entries()) {
    say(`${name}: ${test.fullName}`, test.failureMessages.join('\n'), i === 0 ? MESSAGE_CHARS : LATER_CHARS);
  }
  if (file.status === 'failed' && failed.length === 0) {
    suites++;
    say(name, file.message || 'A hook failed: see above.', MESSAGE_CHARS);
  }
}
const skipped = report.numPendingTests + report.numTodoTests;
console.log(report.numPassedTests, report.numFailedTests + suites, skipped);

function say(what, message, chars) {
  const text = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => !/^ +at .*node_modules/.test(line))
    .join('\n')
    .trim();
  const seen = text.length > chars ? `${text.slice(0, chars)} …` : text;
  console.error(`FAILED ${what}\n  ${seen.replaceAll('\n', '\n  ')}\n`);
}
