/** An error of its own file: what tests import names no type of the runtime. */
import type { HookResult, RecordedHttpCall } from './kit.ts';

/** The plugin made an HTTP call that no stub of the request matches. */
export class UnstubbedHttpCall extends Error {
  readonly call: RecordedHttpCall;
  /** What came of the hook, which the call failed for as CALL_REFUSED. */
  readonly result: HookResult;

  constructor(call: RecordedHttpCall, result: HookResult) {
    super(
      `the plugin called ${call.method} ${call.url}, and no stub matches it: add { url: '${call.url}', status: 200, json: {} } to httpCalls of the request, or allow calls with { network: true }`,
    );
    this.call = call;
    this.result = result;
  }
}
