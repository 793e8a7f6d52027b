/** What logs escape beyond JSON. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printableLines } from './printable.ts';

const HOSTILE = 'a\u009b2J\u007f\u202eb\u2028c\u2066d';

describe('text of clients in logs', () => {
  it('is escaped, and stays the same JSON', () => {
    const line = `${JSON.stringify({ agent: `${HOSTILE} ä漢😀` })}\n`;
    expect(printableLines(line)).not.toMatch(/[\u007f-\u009f\u2028\u202e\u2066]/);
    expect(JSON.parse(printableLines(line))).toEqual({ agent: `${HOSTILE} ä漢😀` });
  });

  it.each(['json', 'pretty'])('reaches no terminal as it is, in the format %s', (format) => {
    const program = `import { createLog } from ${JSON.stringify(join(import.meta.dirname, '..', 'telemetry', 'log.ts'))};
      const log = await createLog('info', ${JSON.stringify(format)});
      log.logger.info({ agent: ${JSON.stringify(HOSTILE)} }, 'said');
      log.line('{"level":"info","msg":"request","path":' + JSON.stringify(${JSON.stringify(HOSTILE)}) + '}\\n');
      await log.flush();`;
    const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      encoding: 'utf8',
    });
    expect(output.match(/\\u009b2J/g)).toHaveLength(2);
    expect(output).not.toMatch(/[\u007f-\u009f\u2028\u202e\u2066]/);
  });
});
