/** Clients for tests of the transport: curl where it is there and speaks HTTP/2, node:http2, bare sockets. */
import { execFile, execFileSync } from 'node:child_process';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether curl is there and speaks HTTP/2. */
export const CURL: boolean = (() => {
  try {
    return execFileSync('curl', ['--version'], { encoding: 'utf8' }).includes('HTTP2');
  } catch {
    return false;
  }
})();

/** Whether openssl is there to make certificates. */
export const OPENSSL: boolean = (() => {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8' }).startsWith('OpenSSL');
  } catch {
    return false;
  }
})();

/** The status, the HTTP version and the body that curl got. Rejects where curl fails. */
export async function curl(url: string, ...args: string[]) {
  const { stdout } = await run('curl', ['-sS', '-w', '\n%{http_code} %{http_version}', ...args, url]);
  const end = stdout.lastIndexOf('\n');
  const [status, version] = stdout.slice(end + 1).split(' ');
  return { status: Number(status), version, body: stdout.slice(0, end) };
}

export interface Http2Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One request on a session. Rejects where the stream is reset. */
export function h2(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string | string[]>>,
  body?: string | Buffer,
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let answer: (IncomingHttpHeaders & IncomingHttpStatusHeader) | undefined;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', (got) => {
      answer = got;
    });
    stream.on('data', (chunk) => {
      text += chunk;
    });
    stream.on('error', reject);
    stream.on('close', () => {
      if (answer && stream.rstCode === 0) resolve({ status: answer[':status'], headers: answer, body: text });
      else reject(new Error(`reset with ${stream.rstCode}`));
    });
    if (body !== undefined) stream.end(body);
  });
}

export function h2session(url: string, options: { ca?: string } = {}): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = connect(url, options, () => resolve(session));
    session.on('error', reject);
  });
}

/** A bare connection, and everything that comes back until it is closed. */
export function raw(port: number): { socket: Socket; all: Promise<string> } {
  const socket = connectTcp(port, '127.0.0.1');
  const all = new Promise<string>((resolve) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  return { socket, all };
}

/** A self-signed certificate for 127.0.0.1, written as `<name>.crt` and `<name>.key`. */
export function makeCertificate(dir: string, name: string): { cert: string; key: string } {
  const [cert, key] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
    ],
    { stdio: 'pipe' },
  );
  return { cert, key };
}
