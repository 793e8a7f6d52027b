/** A WebSocket server that sends every message back: `node test/bench/echo-server.ts PORT`. */
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: Number(process.argv[2]), host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.on('error', () => {});
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
