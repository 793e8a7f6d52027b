/** The engine over requests of strangers: each ends with a verdict, and none traps. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { mutated } from '../../../../test/mutations.ts';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { coreFiles, readCoreData, recommendedFile } from '../seclang/crs.test-support.ts';
import { parseSecLang } from '../seclang/parse.ts';
import { encodeProgram } from '../seclang/program-format.ts';
import { resolveProgram } from '../seclang/resolve.ts';
import { callFrame } from './call-settings.ts';
import { PHASES, requestFrame } from './request-frame.ts';
import { type RuleSet, RuleSets } from './rule-sets.ts';
import { readVerdict } from './verdict.ts';

const SETTINGS = callFrame({ blocks: true, presets: [['blocking_paranoia_level', '4']] });
/** More than any inspection within its budget takes: past it, the test fails. */
const LIMITS = { cpuMs: 60_000, check: () => {} };
const ALL = PHASES.requestHead | PHASES.requestBody | PHASES.response | PHASES.end;

const TOKENS = ['%', '&#', '\\u', '\0', '\r\n', '--x', '/*', '<![CDATA[', "' or ", '((((', '\xff'];
const MULTIPART = [
  '--x\r\nContent-Disposition: form-data; name="a"; filename="b.php"\r\nContent-Type: text/plain\r\n\r\n<?php\r\n',
  '--x\r\nContent-Disposition: form-data; name="c"\r\n\r\n1\' or \'1\r\n--x--\r\n',
].join('');
const BODIES: readonly (readonly [type: string, body: string])[] = [
  ['application/json', '{"a":[1,{"b":"\\u0041<script>"}],"c":null,"d":"select * from x"}'],
  ['application/x-www-form-urlencoded', 'a=1&b=%27%20or%201%3d1--&c=..%2f..%2fetc%2fpasswd&d=;cat$IFS x'],
  ['multipart/form-data; boundary=x', MULTIPART],
  ['text/xml', '<?xml version="1.0"?><a b="onerror=alert(1)"><![CDATA[x]]>&lt;y&#x3c;</a>'],
];

let rules: RuleSet;
beforeAll(async () => {
  const { program } = resolveProgram(
    [recommendedFile(), ...coreFiles()].map((file) => parseSecLang(file, readCoreData)),
  );
  if (program === null) throw new Error('the core rules do not resolve');
  rules = await new RuleSets().open('fuzz', encodeProgram(program));
});

describe('the engine', () => {
  it.each(BODIES)('ends with a verdict for any change of a body of %s', async (type, body) => {
    const requests = fc.record({
      body: mutated([Buffer.from(body, 'latin1')], TOKENS),
      target: mutated([Buffer.from('/a/../b?q=1%27&r=<x>&s=%u0041')], TOKENS),
      cookie: mutated([Buffer.from('a=b; c="d"')], TOKENS),
      times: fc.constantFrom(1, 1, 1, 50),
    });
    await fc.assert(
      fc.asyncProperty(requests, async ({ body: bytes, target, cookie, times }) => {
        const repeated = Buffer.concat(Array.from({ length: times }, () => bytes));
        const rawHeaders = [
          'Host',
          'a.example',
          'Content-Type',
          type,
          'Cookie',
          Buffer.from(cookie).toString('latin1'),
        ];
        const head = {
          clientIp: '192.0.2.1',
          method: 'POST',
          target: Buffer.from(target).toString('latin1'),
          rawHeaders,
        };
        const answer = { status: 200, headers: ['content-type', 'text/html'], body: repeated };
        const whole = { bytes: repeated, isWhole: times === 1 };
        const frame = requestFrame(SETTINGS, ALL, { ...head, requestId: '' }, whole, answer);
        const { bytes: verdict } = await rules.inspect(frame, LIMITS);
        expect(readVerdict(verdict).units).toBeGreaterThan(0);
      }),
      propertyRuns(100),
    );
  });
});
