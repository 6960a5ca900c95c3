import { createServer } from 'node:http';
import { answer, port } from './task.js';

// The upper limit: Node's own HTTP server with such a request and no checks.

const result = { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };

createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const id = body === '' ? null : JSON.parse(body).id;
    const text = JSON.stringify({ jsonrpc: '2.0', id, result });
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    res.end(text);
  });
}).listen(port, '127.0.0.1');
