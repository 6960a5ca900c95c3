import type { ReverseProxy } from '../attacks/proxies.ts';

/** In front of replicas of a server, whose /ready they ask. */
export const balancers: readonly ReverseProxy[] = [
  {
    name: 'Caddy',
    config: (port, servers) => `
{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy ${servers.map((server) => `127.0.0.1:${server}`).join(' ')} {
    health_uri /ready
    health_interval 500ms
    lb_try_duration 2s
  }
}
`,
    command: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
  {
    name: 'HAProxy',
    config: (port, servers) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  option redispatch
  retry-on conn-failure
frontend callers
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  option httpchk GET /ready
  default-server check inter 500ms fall 1
${servers.map((server) => `  server s${server} 127.0.0.1:${server}`).join('\n')}
`,
    command: (file) => ['haproxy', '-db', '-f', file],
  },
];
