/**
 * Runs `gw` of a folder until its parent says that it is warm, then writes the code that V8 has compiled so far beside
 * it: `node warm-up.ts FOLDER [ARGUMENT]...`, with a channel to the parent.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeFile, codeOf, programScript, scriptOf } from './program-script.ts';

const [node = '', , folder = '', ...args] = process.argv;
const main = join(folder, 'gw.js');
process.argv = [node, main, ...args];
const { script, run } = programScript('gw', folder, pathToFileURL(main).href);
process.once('message', () => {
  const source = readFileSync(join(folder, scriptOf('gw')));
  writeFileSync(join(folder, codeOf('gw')), codeFile(source, script.createCachedData()));
  process.exit(0);
});
run();
