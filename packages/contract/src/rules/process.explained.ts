import { contrast, type Explanation, type Explanations } from './explanation.ts';

function refuses(why: string, command: string, variable: string): Explanation {
  return contrast(why, `$ ${command}\nlistening on port 3000`, `$ ${command}\n${variable}: …\n$ echo $?\n1`);
}

/** How the server starts and stops, and the runtime of a project. */
export const processExplanations: Explanations = {
  'process.port': contrast(
    'Hosting platforms choose the port, set PORT, and expect the server there.',
    '$ PORT=8080 node dist/src/main.js\nlistening on port 3000',
    '$ PORT=8080 node dist/src/main.js\nlistening on port 8080',
  ),
  'process.default-port': contrast(
    'The contract defines the default, and guides and containers rely on it.',
    '$ node dist/src/main.js\nlistening on port 8000',
    '$ node dist/src/main.js\nlistening on port 3000',
  ),
  'process.busy-port': contrast(
    'A server on a port other than the requested one runs, but nobody can reach it.',
    '$ PORT=3000 node dist/src/main.js\nport 3000 is in use, listening on 3001',
    '$ PORT=3000 node dist/src/main.js\nport 3000 is in use\n$ echo $?\n1',
  ),
  'process.no-key': refuses(
    'Without a key, no token can be verified. The server could only refuse every call or accept every call.',
    'PLATFORM_PUBLIC_KEY= node dist/src/main.js',
    'PLATFORM_PUBLIC_KEY or PLATFORM_JWKS_URL',
  ),
  'process.production-auth': refuses(
    'If authentication stays off after a test, every call is free.',
    'NODE_ENV=production AUTH=off node dist/src/main.js',
    'AUTH',
  ),
  'process.production-audience': refuses(
    'Without an audience, tokens for any other server would be valid here.',
    'NODE_ENV=production PLATFORM_AUDIENCE= node dist/src/main.js',
    'PLATFORM_AUDIENCE',
  ),
  'process.production-https': refuses(
    'The platform calls https only. With an http audience, the server would refuse every real call.',
    'NODE_ENV=production PLATFORM_AUDIENCE=http://tools.example.com/mcp node dist/src/main.js',
    'PLATFORM_AUDIENCE',
  ),
  'process.production': contrast(
    'Behind a proxy, the server listens on plain HTTP at an address other than the registered one. Tokens are issued for the registered one.',
    'token for https://tools.example.com/mcp\n→ 401\ntoken for http://127.0.0.1:3000/mcp\n→ 200',
    'token for https://tools.example.com/mcp\n→ 200\ntoken for http://127.0.0.1:3000/mcp\n→ 401',
  ),
  'process.terminate': contrast(
    'Hosting platforms send SIGTERM at each deployment and kill a server that does not exit.',
    '$ kill $PID; wait $PID; echo $?\n143',
    '$ kill $PID; wait $PID; echo $?\n0',
  ),
  'process.terminate-during-call': contrast(
    'The callers waiting at that moment have paid.',
    'tools/call, and SIGTERM while it runs\n→ connection reset',
    'tools/call, and SIGTERM while it runs\n→ 200 {"result": …}, then exit status 0',
  ),
  'runtime.outdated': contrast(
    'A server gets a fix of the runtime only when its project is upgraded. Some fixes close security holes.',
    '$ market-mcp doctor\nruntime: 0.3.0, this program: 0.4.0',
    '$ market-mcp upgrade\n$ market-mcp doctor\nruntime: 0.4.0, this program: 0.4.0',
  ),
  'runtime.platform': contrast(
    'The server verifies tokens by src/platform.ts; the check signs them by the profile in market-mcp.json. If they differ, a green check says nothing about the real platform.',
    "// src/platform.ts, edited by hand\nissuer: 'https://staging.example',",
    '$ market-mcp upgrade\n// src/platform.ts is written again, from market-mcp.json',
  ),
};
