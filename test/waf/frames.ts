/** Programs and requests as the engine reads them. */
import { type CallOptions, callFrame } from '../../gateway/features/waf/host/call-settings.ts';
import { PHASES, requestFrame } from '../../gateway/features/waf/host/request-frame.ts';
import { coreFiles, readCoreData, recommendedFile } from '../../gateway/features/waf/seclang/crs.test-support.ts';
import { parseSecLang, type SecLangFile } from '../../gateway/features/waf/seclang/parse.ts';
import { encodeProgram } from '../../gateway/features/waf/seclang/program-format.ts';
import { resolveProgram } from '../../gateway/features/waf/seclang/resolve.ts';
import type { OracleRequest } from './oracle.ts';

/** Nothing is refused, and the verdict has all matches; the time is that of any inspection to its end. */
export const DETECTS: CallOptions = { blocks: false, tellsAll: true, budget: 0xffff_ffff };

/** Directives before the rule set for its regression tests; the oracle's `--regression` has the same. */
const REGRESSION = `SecAction "id:900005,phase:1,nolog,pass,ctl:ruleEngine=DetectionOnly,ctl:ruleRemoveById=910000,\
setvar:tx.blocking_paranoia_level=4,setvar:tx.crs_validate_utf8_encoding=1,setvar:tx.arg_name_length=100,\
setvar:tx.arg_length=400,setvar:tx.total_arg_length=64000,setvar:tx.max_num_args=255,\
setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535"`;

const ACTIONS = [3, 4, 5].map((phase) => `SecDefaultAction "phase:${phase},log,auditlog,pass"`);

/** A whole transaction; its request has no id. */
export function transactionFrame(
  { method, target, version, headers, body, response }: OracleRequest,
  options: CallOptions = DETECTS,
): Uint8Array {
  const { requestHead, requestBody, response: answer, end } = PHASES;
  const head = { clientIp: '127.0.0.1', method, target, protocol: version, rawHeaders: headers.flat(), requestId: '' };
  const answered = response && { ...response, headers: response.headers.flat() };
  return requestFrame(
    callFrame(options),
    requestHead | requestBody | end | (response === null ? 0 : answer),
    head,
    { bytes: body, isWhole: true },
    answered,
  );
}

/** Compiles rules. Throws an error with all faults of the files. */
export function encodedProgram(files: readonly SecLangFile[]): Uint8Array {
  const { program, diagnostics } = resolveProgram(files.map((file) => parseSecLang(file, readCoreData)));
  const faults = diagnostics.filter(({ severity }) => severity === 'error');
  if (program === null) throw new Error(faults.map((each) => `${each.file}:${each.line}: ${each.message}`).join('\n'));
  return encodeProgram(program);
}

/** The Core Rule Set. `level`: paranoia level, or `regression` for what its tests expect. */
export function ruleSetProgram(level: number | 'regression'): Uint8Array {
  const setup =
    level === 'regression'
      ? REGRESSION
      : `SecAction "id:900000,phase:1,pass,t:none,nolog,setvar:tx.blocking_paranoia_level=${level}"`;
  const own = { name: 'setup.conf', bytes: Buffer.from([...ACTIONS, setup, ''].join('\n')) };
  return encodedProgram([recommendedFile(), own, ...coreFiles()]);
}
