/** A process with a database of its own: `URL migrate | hold | write`. What it says is a line of JSON. */
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
