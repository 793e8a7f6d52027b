/** The console blocks of a page: the commands that it shows, and what it says that they print. */

export interface ShownCommand {
  /** As it stands behind `$ `, with the lines that go on behind a backslash. */
  readonly command: string;
  /** Lines below it. None: the page does not say what it prints. */
  readonly output: readonly string[];
  /** `^C` stands below its output: it runs on until it is interrupted. */
  readonly interrupted: boolean;
  /** In the page, from 1. */
  readonly line: number;
}

export interface ConsoleBlock {
  /** Of its opening fence, from 1. */
  readonly line: number;
  readonly commands: readonly ShownCommand[];
  /** Why tests do not run it: `<!-- not run: needs a cluster -->` on the line above. */
  readonly notRun: string | null;
  /** `<!-- keeps running -->`: the last command goes on beside what follows, which is typed into another shell. */
  readonly keepsRunning: boolean;
  /** `<!-- ends what keeps running -->`: what was kept running is interrupted before it. */
  readonly endsOthers: boolean;
}

export interface Page {
  readonly blocks: readonly ConsoleBlock[];
  /** Line and language of every fence; an empty one where none is named. */
  readonly fences: readonly { readonly line: number; readonly language: string }[];
}

const COMMENT = /^<!--\s*(.*?)\s*-->$/;
const NOT_RUN = /^not run: (\S.*)$/;

/** Throws an Error with the line where a block is not one of commands, or a comment above one is not known. */
export function readPage(markdown: string): Page {
  const lines = markdown.split('\n');
  const blocks: ConsoleBlock[] = [];
  const fences: Page['fences'][number][] = [];
  for (let at = 0; at < lines.length; at++) {
    const opened = /^(`{3,})\s*(\S*)/.exec(lines[at] ?? '');
    if (!opened) continue;
    const [, fence = '', language = ''] = opened;
    const end = lines.indexOf(fence, at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: the fence is not closed`);
    fences.push({ line: at + 1, language });
    if (language === 'console') blocks.push(blockOf(lines, at, end));
    at = end;
  }
  return { blocks, fences };
}

function blockOf(lines: readonly string[], start: number, end: number): ConsoleBlock {
  const said: string[] = [];
  for (let at = start - 1; ; at--) {
    const [, comment] = COMMENT.exec(lines[at] ?? '') ?? [];
    if (comment === undefined) break;
    said.push(comment);
  }
  const reasons = said.flatMap((comment) => NOT_RUN.exec(comment)?.[1] ?? []);
  const known = ['keeps running', 'ends what keeps running'];
  const other = said.find((comment) => !known.includes(comment) && !NOT_RUN.test(comment));
  if (other !== undefined) {
    throw new Error(
      `line ${start}: "${other}" says nothing about a console block: write "not run: REASON", or one of ${known.join(', ')}`,
    );
  }
  return {
    line: start + 1,
    commands: commandsOf(lines.slice(start + 1, end), start + 2),
    notRun: reasons[0] ?? null,
    keepsRunning: said.includes('keeps running'),
    endsOthers: said.includes('ends what keeps running'),
  };
}

function commandsOf(lines: readonly string[], first: number): readonly ShownCommand[] {
  const commands: { command: string; output: string[]; line: number }[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('$ ')) {
      let command = line.slice(2);
      const from = at;
      while (command.endsWith('\\') && at + 1 < lines.length) command += `\n${lines[++at]}`;
      commands.push({ command, output: [], line: first + from });
      continue;
    }
    const last = commands.at(-1);
    if (last) last.output.push(line);
    else if (line.trim() !== '') throw new Error(`line ${first + at}: a console block begins with a command: "$ …"`);
  }
  if (commands.length === 0) throw new Error(`line ${first - 1}: a console block without a command`);
  return commands.map(({ command, output, line }) => {
    const shown = output.filter((each) => each.trim() !== '');
    const interrupted = shown.at(-1) === '^C';
    return { command, line, interrupted, output: interrupted ? shown.slice(0, -1) : shown };
  });
}
