import { Server } from 'node:net';

// Loaded before a third-party server: it then listens on PORT of loopback, whatever port and host its code names.

const { listen } = Server.prototype;

Server.prototype.listen = function (...args) {
  const listening = args.find((argument) => typeof argument === 'function');
  return listen.call(this, { port: Number(process.env.PORT), host: '127.0.0.1' }, listening);
};
