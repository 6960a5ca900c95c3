import { Server } from 'node:net';

// Loaded before a foreign server: whatever port and host its code names, it listens on PORT of this machine alone.

const { listen } = Server.prototype;

Server.prototype.listen = function (...args) {
  const listening = args.find((argument) => typeof argument === 'function');
  return listen.call(this, { port: Number(process.env.PORT), host: '127.0.0.1' }, listening);
};
