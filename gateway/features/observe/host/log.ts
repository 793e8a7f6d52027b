/** `host_log`. */

import { type CallState, capability, HostCallError, type LogLevel } from '../../kit.ts';

const levels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];
/** Bytes of one line, and lines of one call; the rest is left out. */
const MAX_LINE = 4096;
const MAX_LINES = 100;
/** Cost of writing a line, in instructions. */
const LINE = 5_000;

class LineCount implements CallState {
  lines = 0;

  end(): void {
    this.lines = 0;
  }
}

export const log = capability({
  call: () => new LineCount(),
  functions: {
    host_log: {
      signature: 'iii:',
      parameters: '(level, msg, len)',
      meaning: '0 trace, 1 debug, 2 info, 3 warn, 4 error',
      declared: true,
      make:
        (call, { state }) =>
        (level, message, length) => {
          const name = levels[level];
          if (name === undefined) throw new HostCallError(`host_log: there is no level ${level}`);
          state.lines++;
          if (state.lines > MAX_LINES) return;
          call.burn(LINE);
          call.memory.check(message, length);
          const cut = length >>> 0 > MAX_LINE;
          const text = call.memory.text(message, cut ? MAX_LINE : length);
          // One line stays one line: a client's text in it cannot pose as another.
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
          const line = text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, ' ');
          const { services, name: plugin } = call.binding;
          services.log(name, plugin, cut ? `${line}… (${length >>> 0} bytes)` : line, call.exchange);
          if (state.lines === MAX_LINES) {
            services.log(
              'warn',
              plugin,
              `further lines of this call are left out: it logged ${MAX_LINES}`,
              call.exchange,
            );
          }
        },
    },
  },
});
