/** How pages are read, and what counts as printing what they show. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../eventually.ts';
import { propertyRuns } from '../property-runs.ts';
import { readPage } from './console-page.ts';
import { openShell } from './page-shell.ts';
import { matchOutput, withValues } from './shown-output.ts';

const FENCE = '```';
const page = (...lines: string[]) => readPage(lines.join('\n'));

describe('a page', () => {
  it('has commands with their output, in blocks', () => {
    const { blocks } = page('# A', `${FENCE}console`, '$ one', 'printed', '', '$ two \\', '    more', FENCE, 'text');
    expect(blocks).toEqual([
      {
        line: 2,
        commands: [
          { command: 'one', output: ['printed'], interrupted: false, line: 3 },
          { command: 'two \\\n    more', output: [], interrupted: false, line: 6 },
        ],
        notRun: null,
        keepsRunning: false,
        endsOthers: false,
      },
    ]);
  });

  it('says above a block why it is not run, or what goes on beside it', () => {
    const { blocks } = page(
      '<!-- not run: needs a cluster -->',
      `${FENCE}console`,
      '$ a',
      FENCE,
      '<!-- ends what keeps running -->',
      '<!-- keeps running -->',
      `${FENCE}console`,
      '$ b',
      'ready',
      '^C',
      FENCE,
    );
    expect(blocks.map(({ notRun }) => notRun)).toEqual(['needs a cluster', null]);
    expect(blocks[1]).toMatchObject({ keepsRunning: true, endsOthers: true });
    expect(blocks[1]?.commands).toEqual([{ command: 'b', output: ['ready'], interrupted: true, line: 8 }]);
  });

  it('names the language of every fence', () => {
    expect(page(`${FENCE}sh`, 'ls', FENCE, FENCE, 'x', FENCE).fences).toEqual([
      { line: 1, language: 'sh' },
      { line: 4, language: '' },
    ]);
  });

  it.each([
    [
      'a reason that is missing',
      ['<!-- not run: -->', `${FENCE}console`, '$ a', FENCE],
      'line 1: "not run:" says nothing',
    ],
    ['a comment that is misspelt', ['<!-- keep running -->', `${FENCE}console`, '$ a', FENCE], 'keep running'],
    ['output without a command', [`${FENCE}console`, 'printed', FENCE], 'line 2: a console block begins with'],
    ['a block without commands', [`${FENCE}console`, FENCE], 'line 1: a console block without'],
    ['a fence that stays open', [`${FENCE}console`, '$ a'], 'line 1: the fence is not closed'],
  ])('is refused for %s', (_, lines, message) => {
    expect(() => page(...lines)).toThrow(message);
  });

  it('reads what was written', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const commands = fc.array(fc.record({ command: word, output: fc.array(word, { maxLength: 3 }) }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(commands), (written) => {
        const text = written.flatMap((block) => [
          `${FENCE}console`,
          ...block.flatMap(({ command, output }) => [`$ ${command}`, ...output]),
          FENCE,
          'between',
        ]);
        const read = page(...text).blocks.map(({ commands: found }) =>
          found.map(({ command, output }) => ({ command, output })),
        );
        expect(read).toEqual(written);
      }),
      propertyRuns(100),
    );
  });
});

describe('output', () => {
  const ID = '01a20078-65e3-7880-a083-4c690f7bbe16';
  const OTHER = '02b31189-76f4-8991-b194-5d7a1f8ccf27';

  it.each([
    ['as it stands', ['a b', '', 'c'], 'a b\nc\n'],
    ['with other spaces', ['NAME    STATUS', 'x  y'], 'NAME STATUS\n  x     y  \n'],
    [
      'with another id, hash and time',
      [`id: ${ID} sha256:2aa1a0ec…`, '00:30:03 · ok'],
      `id: ${OTHER} sha256:99fe…\n12:00:00 · ok`,
    ],
    [
      'with another duration, size and port',
      ['compiled in 175 ms, 5.6 KiB; http://127.0.0.1:8080'],
      'compiled in 9 ms, 12 KiB; http://127.0.0.1:4711',
    ],
    ['with another age', ['a  Ready  6s'], 'a Ready 2m5s'],
    ['with the beginning of an id', ['{"id":"01a2…","revision":2}'], `{"id":"${OTHER}","revision":2}`],
    ['with what a line leaves out', ['{"id":1,…}'], '{"id":1,"name":"x"}'],
    ['with lines left out', ['a', '…', 'd'], 'a\nb\nc\nd\n'],
    ['with none left out', ['a', '...', 'b'], 'a\nb\n'],
  ])('fits %s', (_, shown, printed) => {
    expect(matchOutput(shown, printed)).not.toBeNull();
  });

  it.each([
    ['another word', ['a b'], 'a c'],
    ['a line more', ['a'], 'a\nb'],
    ['a line less', ['a', 'b'], 'a'],
    ['another number', ['revision 1'], 'revision 2'],
    ['a word where an id belongs', [`id: ${ID}`], 'id: none'],
  ])('does not fit with %s', (_, shown, printed) => {
    expect(matchOutput(shown, printed)).toBeNull();
  });

  it('gives what the page names again', () => {
    const { values = new Map() } =
      matchOutput([`project: shop (${ID})`, 'gwk_w2F…'], `project: shop (${OTHER})\ngwk_9-x_Q\n`) ?? {};
    expect(withValues(`GW_API_KEY=gwk_w2F… gw serve --project-id ${ID}`, values)).toBe(
      `GW_API_KEY=gwk_9-x_Q gw serve --project-id ${OTHER}`,
    );
  });

  it('fits itself, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme-ascii' })), (lines) => {
        expect(matchOutput(lines, lines.join('\n'))).not.toBeNull();
      }),
      propertyRuns(200),
    );
  });
});

describe('a shell', () => {
  const open = () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-shell-'));
    const shell = openShell(folder, folder, { PATH: process.env['PATH'], HOME: folder });
    onTestFinished(async () => {
      await shell.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return shell;
  };

  it('keeps its folder and variables, and has both streams of each command', async () => {
    const shell = open();
    expect(await shell.run('export A=1 && mkdir x && cd x')).toEqual({ code: 0, output: '' });
    expect(await shell.run('echo $A $(basename $PWD); echo no >&2; false')).toEqual({ code: 1, output: '1 x\nno\n' });
    expect(await shell.run('false | true')).toMatchObject({ code: 1 });
    expect((await shell.run('cat')).output).toBe('');
  });

  it('interrupts what runs on, and ends what is in the background with itself', async () => {
    const shell = open();
    const program =
      'process.on("SIGINT", () => process.exit(console.log("ended"))); console.log("ready"); setInterval(() => {}, 1e6)';
    const running = await shell.start(`"${process.execPath}" -e '${program}'`);
    await eventually(async () => expect(await running.output()).toBe('ready\n'));
    expect(await running.interrupt()).toEqual({ code: 0, output: 'ready\nended\n' });
    const { output } = await shell.run('tail -f /dev/null & echo $!');
    await shell.close();
    expect(() => process.kill(Number(output), 0)).toThrow('ESRCH');
  });
});
