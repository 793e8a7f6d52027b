/** Bytes of strangers in place of a program: an error, or a program that an engine can run. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutated } from '../../../../test/mutations.ts';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { inTime } from '../../../../test/time-limit.ts';
import { CodecError } from './codec.ts';
import { parseSecLang } from './parse.ts';
import { decodeProgram, encodeProgram } from './program-format.ts';
import { resolveProgram } from './resolve.ts';

const RULES = `
SecRuleEngine DetectionOnly
SecResponseBodyMimeType text/html
SecDefaultAction "phase:1,deny,status:406"
SecRule ARGS|!ARGS:a|&TX:/b/ "!@rx (?i)a[b-d]\\xff" "id:1,phase:1,block,msg:'é %{TX.0}',tag:a,severity:2,skipAfter:E,chain"
SecRule XML:/* "@pm a b" "t:lowercase,multiMatch,capture,setvar:'tx.a_%{TX.1}=+5',setvar:!tx.b,ctl:ruleRemoveById=1-2"
SecRule REMOTE_ADDR "@ipMatch 10.0.0.0/8" "id:2,redirect:/a,ctl:ruleRemoveTargetByTag=a;ARGS:x,ctl:ruleEngine=Off"
SecRule ARGS "@validateByteRange 1-255" "id:3,allow:phase,ver:1,rev:2"
SecMarker E
SecAction "id:4,allow"
`;
const { program } = resolveProgram([parseSecLang({ name: 'waf/ä.conf', bytes: Buffer.from(RULES) }, () => undefined)]);

describe('a program', () => {
  it('is the same after encoding', () => {
    expect(decodeProgram(encodeProgram(program!))).toEqual(program);
  });

  it('has a version that others refuse', () => {
    const bytes = encodeProgram(program!);
    bytes[7] = 2;
    expect(() => decodeProgram(bytes)).toThrow('the rules have format 2, and this version reads 1');
    expect(() => decodeProgram(bytes.subarray(1))).toThrow('do not begin with gw-waf');
  });

  it('is refused with bytes behind it, or without its end', () => {
    const bytes = encodeProgram(program!);
    expect(() => decodeProgram(Buffer.concat([bytes, Buffer.from([0])]))).toThrow('bytes follow the rules');
    expect(() => decodeProgram(bytes.subarray(0, -1))).toThrow(CodecError);
  });

  it('of changed bytes is refused, or encodes to bytes of the same program', () => {
    fc.assert(
      fc.property(mutated([encodeProgram(program!)], ['\xff\xff\xff\xff\x7f', '\x00']), (bytes) => {
        inTime(() => {
          try {
            const found = decodeProgram(bytes);
            expect(decodeProgram(encodeProgram(found))).toEqual(found);
          } catch (error) {
            expect(error).toBeInstanceOf(CodecError);
          }
        });
      }),
      propertyRuns(1000),
    );
  });
});
