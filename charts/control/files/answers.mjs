// The request of `helm test`: through the Service, to what the control plane itself answers.
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';

const { URL: url } = process.env;
const fail = (why) => {
  console.error(`${url}: ${why}`);
  process.exit(1);
};
setTimeout(() => fail('no answer within 20 s'), 20_000).unref();

// The certificate is for the names that clients use, not for the Service's.
const sent = (url.startsWith('https:') ? secure : plain)(`${url}/health`, { rejectUnauthorized: false }, (answer) => {
  let text = '';
  answer.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  answer.on('end', () => {
    if (answer.statusCode !== 200) fail(`/health was answered with ${answer.statusCode}: ${text}`);
    console.log(`${url}/health: ${text}`);
  });
});
sent.on('error', (error) => fail(error.message));
sent.end();
