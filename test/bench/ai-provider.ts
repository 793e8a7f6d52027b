/**
 * An AI provider that costs little: `node test/bench/ai-provider.ts PORT`. It speaks chat completions and messages; the
 * model `NAME:EVENTS:MS` has a stream of so many events, one each so many milliseconds, the first at once. The text of
 * each is when it was sent, in nanoseconds of the clock that all processes of a machine share.
 */
import { createServer, type ServerResponse } from 'node:http';

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
}

interface Protocol {
  answer(text: string): object;
  /** Before the first text. */
  readonly begin: readonly object[];
  text(text: string): object;
  readonly end: readonly object[];
  readonly done: string;
}

const usage = { prompt_tokens: 9, completion_tokens: 20, total_tokens: 29 };
const chunk = (delta: object, finish: string | null = null) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench' },
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const CHAT: Protocol = {
  answer: (content) => ({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'bench', usage },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  }),
  begin: [chunk({ role: 'assistant', content: '' })],
  text: (content) => chunk({ content }),
  end: [chunk({}, 'stop'), { ...chunk({}), choices: [], usage }],
  done: 'data: [DONE]\n\n',
};

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'bench', content: [], stop_reason: null };

const MESSAGES: Protocol = {
  answer: (text) => ({
    ...{ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' },
    usage: { input_tokens: 9, output_tokens: 20 },
  }),
  begin: [
    { type: 'message_start', message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ],
  text: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  end: [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  ],
  done: '',
};

function event(data: object): string {
  const name = 'type' in data ? `event: ${data.type}\n` : '';
  return `${name}data: ${JSON.stringify(data)}\n\n`;
}

function stream(response: ServerResponse, protocol: Protocol, events: number, ms: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(protocol.begin.map(event).join(''));
  let sent = 0;
  const send = (): void => {
    response.write(event(protocol.text(`at ${process.hrtime.bigint()} `)));
    if (++sent < events) return;
    clearInterval(timer);
    response.end(protocol.end.map(event).join('') + protocol.done);
  };
  const timer = setInterval(send, ms);
  response.on('close', () => clearInterval(timer));
  send();
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    const protocol = request.url?.startsWith('/v1/messages') ? MESSAGES : CHAT;
    const asked: Asked = JSON.parse(body);
    const [, events = '20', ms = '20'] = asked.model.split(':');
    if (asked.stream) return stream(response, protocol, Number(events), Number(ms));
    const answer = JSON.stringify(protocol.answer(`at ${process.hrtime.bigint()} `));
    response.setHeader('content-type', 'application/json').end(answer);
  });
}).listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 });
