// The request of `helm test`: through the Service, to what the gateway itself answers.
import { connect } from 'node:tls';
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';

const { URL: url, EXPOSES_HEALTH: health, ASKS_FOR_CERTIFICATE: certificate } = process.env;
const { protocol, hostname, port } = new URL(url);
const fail = (why) => {
  console.error(`${url}: ${why}`);
  process.exit(1);
};
setTimeout(() => fail('no answer within 20 s'), 20_000).unref();

if (certificate === 'true') {
  // Without a certificate there is no request: the handshake must be there, and ask for one.
  const socket = connect({ host: hostname, port: port || 443, rejectUnauthorized: false });
  const done = (what) => {
    console.log(`${url}: ${what}`);
    process.exit(0);
  };
  socket.on('secureConnect', () => done(socket.getProtocol()));
  socket.on('error', (error) => (/^ERR_SSL.*ALERT/.test(error.code) ? done(error.code) : fail(error.message)));
} else {
  // The certificate is for the names that clients use, not for the Service's.
  const request = protocol === 'https:' ? secure : plain;
  const path = health === 'true' ? '/__gw/health' : '/__gw/';
  const sent = request(url + path, { rejectUnauthorized: false }, (answer) => {
    answer.resume();
    const expected = health === 'true' ? 200 : 404;
    if (answer.statusCode !== expected) fail(`${path} was answered with ${answer.statusCode}, not ${expected}`);
    console.log(`${url}${path}: ${answer.statusCode}`);
  });
  sent.on('error', (error) => fail(error.message));
  sent.end();
}
