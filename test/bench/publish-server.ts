/**
 * A node:http server that publishes the body of each request and answers when the client library has the broker's
 * acknowledgement: what publishing costs without a gateway.
 *
 *   node test/bench/publish-server.ts kafka|nats BROKER TOPIC PORT
 */
import { createServer } from 'node:http';
import { client as kafkaClient } from '../serve/kafka-client.ts';
import { connect as connectNats } from '../serve/nats-client.ts';

type Publish = (body: Buffer) => Promise<unknown>;

async function kafka(brokers: string, topic: string): Promise<Publish> {
  const producer = kafkaClient(brokers).producer();
  await producer.connect();
  return (value) => producer.send({ topic, messages: [{ value }], acks: -1 });
}

async function nats(url: string, subject: string): Promise<Publish> {
  const connection = await connectNats(url);
  return (body) => {
    connection.publish(subject, body);
    return connection.flush();
  };
}

const [kind, broker = '', topic = '', port] = process.argv.slice(2);
const publish = await (kind === 'kafka' ? kafka(broker, topic) : nats(broker, topic));

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    publish(Buffer.concat(chunks)).then(
      () => response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"accepted"}'),
      () => response.writeHead(502).end(),
    );
  });
}).listen(Number(port), '127.0.0.1');
