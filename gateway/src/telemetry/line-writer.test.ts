import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Writes lines of a flood while nobody reads, then one each of another client and of the gateway itself. */
const program = `
import { LineWriter } from ${JSON.stringify(join(import.meta.dirname, 'line-writer.ts'))};
const writer = new LineWriter(1);
const line = (ip, path) => \`{"msg":"request","client_ip":"\${ip}","path":"\${path}"}\\n\`;
writer.write(line('192.0.2.9', 'first'));
void writer.flush();
const long = 'x'.repeat(10_000);
for (let i = 0; i < 4_000; i++) writer.write(line('192.0.2.9', long));
writer.write(line('192.0.2.1', 'mine'));
writer.write('{"level":"error","msg":"own"}\\n');
process.send('written');
await writer.flush();
process.disconnect();
`;

it('a flood of lines about one client leaves room for those about others', async () => {
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  await once(child, 'message');
  let text = '';
  for await (const chunk of child.stdout ?? []) text += chunk;
  expect(text).toContain('"path":"mine"');
  expect(text).toContain('"msg":"own"');
  expect(text).toMatch(/"msg":"log lines dropped","count":\d+/);
  expect(text.length).toBeLessThan(17 << 20);
});
