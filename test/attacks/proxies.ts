import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../ports.ts';

/** A reverse proxy in front of one server or several. */
export interface ReverseProxy {
  readonly name: string;
  config(port: number, servers: readonly number[], directory: string): string;
  command(file: string): readonly [program: string, ...args: string[]];
}

/** With their default settings where they let calls through. */
export const proxies: readonly ReverseProxy[] = [
  {
    name: 'nginx',
    config: (port, [server], directory) => `
      user root;
      daemon off;
      pid ${directory}/pid;
      error_log stderr crit;
      worker_rlimit_nofile 16384;
      events { worker_connections 8192; }
      http {
        access_log off;
        client_body_temp_path ${directory}/bodies;
        proxy_temp_path ${directory}/answers;
        fastcgi_temp_path ${directory}/fastcgi;
        uwsgi_temp_path ${directory}/uwsgi;
        scgi_temp_path ${directory}/scgi;
        client_max_body_size 2m;
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://127.0.0.1:${server};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_request_buffering off;
            proxy_buffering off;
          }
        }
      }`,
    command: (file) => ['nginx', '-c', file],
  },
  {
    name: 'HAProxy',
    config: (port, [server]) => `
global
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend callers
  bind 127.0.0.1:${port}
  option forwardfor
  default_backend server
backend server
  server server 127.0.0.1:${server}
`,
    command: (file) => ['haproxy', '-db', '-f', file],
  },
  {
    name: 'Caddy',
    config: (port, [server]) => `
{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${server} {
    header_up X-Forwarded-For {remote_host}
  }
}
`,
    command: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
];

/**
 * Starts a proxy in front of servers on this machine.
 *
 * @param servers their ports
 *
 * @throws Error if its Debian package is not installed, or it does not start.
 */
export async function startProxy(
  { name, config, command }: ReverseProxy,
  servers: readonly number[],
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'proxy-'));
  const port = await freePort();
  const file = join(directory, 'config');
  writeFileSync(file, config(port, servers, directory));
  const [program, ...args] = command(file);
  const path = `${process.env.PATH}:/usr/sbin`;
  const child = spawn(program, args, {
    env: { PATH: path, HOME: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors = (errors + text).slice(-2_000);
  });
  child.on('error', () => {
    errors = `${program} is not installed: apt-get install nginx haproxy caddy`;
  });
  const stop = async () => {
    await end(child);
    rmSync(directory, { recursive: true, force: true });
  };
  for (let attempt = 0; attempt < 1_000; attempt++) {
    if (await takesConnections(port)) return { port, stop };
    if (child.exitCode !== null || child.pid === undefined) break;
    await delay(100);
  }
  await stop();
  throw new Error(`${name} does not start: ${errors}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await exited;
  clearTimeout(timer);
}

export function takesConnections(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
