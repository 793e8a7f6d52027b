/** A process with a database of its own: `URL migrate | hold | write | stream`. What it says is a line of JSON. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Blobs } from '../../control/src/db/blobs.ts';
import { openDatabase } from '../../control/src/db/database.ts';

const [, , url = '', task] = process.argv;
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

const db = await openDatabase(url);
if (task === 'migrate') {
  say((await db.migrate()).applied);
  await db.close();
} else if (task === 'hold') {
  say('open');
  setInterval(() => {}, 60_000);
} else if (task === 'stream') {
  await db.migrate();
  say(await streamThrough(new Blobs(db.kysely)));
  await db.close();
} else {
  await db.migrate();
  for (let i = 0; ; i++) {
    const name = `project ${process.pid} ${i}`;
    const row = { id: crypto.randomUUID(), name, description: 'x'.repeat(5_000), upstreams: '{}' };
    await db.kysely
      .insertInto('projects')
      .values({ ...row, updated_at: new Date() })
      .execute();
    say(name);
  }
}

/** 30 MB in and out again; `peak` is how many bytes were held on the way. Needs `--expose-gc`: garbage is not held. */
async function streamThrough(blobs: Blobs): Promise<{ size: number; peak: number }> {
  const held = async () => {
    await nextTurn();
    // The second counts what the first freed.
    globalThis.gc?.();
    globalThis.gc?.();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  };
  const before = await held();
  let peak = 0;
  async function* source() {
    for (let i = 0; i < 300; i++) {
      if (i % 30 === 0) peak = Math.max(peak, (await held()) - before);
      yield Buffer.alloc(100_000, i);
    }
  }
  const { sha256 } = await blobs.put(source(), 30_000_000);
  let size = 0;
  let n = 0;
  for await (const piece of blobs.read(sha256)) {
    if (n++ % 12 === 0) peak = Math.max(peak, (await held()) - before);
    size += piece.length;
  }
  return { size, peak };
}
