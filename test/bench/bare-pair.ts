/** What a proxy on node:http and undici costs when it does nothing else: the floor for ours. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const [upstream = '', port = '0'] = process.argv.slice(2);
const pool = new Pool(upstream, { allowH2: false, pipelining: 1 });

createServer((request, response) => {
  pool.dispatch(
    {
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: request.rawHeaders,
      body: request.method === 'GET' ? null : request,
    },
    {
      onRequestStart() {},
      onResponseStart(_controller, status, headers) {
        const raw: string[] = [];
        for (const name in headers) if (name !== 'connection') raw.push(name, String(headers[name]));
        response.writeHead(status, raw);
      },
      onResponseData(_controller, chunk) {
        response.write(chunk);
      },
      onResponseEnd() {
        response.end();
      },
      onResponseError() {
        response.destroy();
      },
    },
  );
}).listen(Number(port), '127.0.0.1');
