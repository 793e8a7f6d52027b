/** The format of server-sent events (WHATWG HTML, section 9.2.6). */

export interface ServerEvent<T = unknown> {
  readonly name: string;
  /** As the schema of the operation has it. */
  readonly data: T;
}

/** Takes the stream in any pieces. Events whose data is no JSON are left out. */
export function eventParser<T>(each: (event: ServerEvent<T>) => void): (chunk: string) => void {
  let rest = '';
  let name = '';
  let data: string[] = [];
  const dispatch = () => {
    const text = data.join('\n');
    if (text !== '') {
      try {
        each({ name: name || 'message', data: JSON.parse(text) });
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    name = '';
    data = [];
  };
  const line = (text: string) => {
    if (text === '') return dispatch();
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(text) ?? [];
    if (field === 'event') name = value;
    else if (field === 'data') data.push(value);
  };
  return (chunk) => {
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const each of lines) line(each);
  };
}
