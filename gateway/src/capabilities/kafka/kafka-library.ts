/**
 * The client library, with one thing mended: after its first request a connection of kafkajs 2.2.4 looks a thousand
 * times a second for requests that wait, whether there are any or not, by timers of a negative time, of
 * which Node.js warns.
 */
import kafkajs from 'kafkajs';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const { scheduleCheckPendingRequests } = RequestQueue.prototype;
RequestQueue.prototype.scheduleCheckPendingRequests = function schedule(this: RequestQueue) {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

export const { Kafka, KafkaJSProtocolError, Partitioners } = kafkajs;
