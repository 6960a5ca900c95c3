import { contrast, type Explanation, type Explanations } from './model.ts';

function refuses(why: string, command: string, variable: string): Explanation {
  return contrast(why, `$ ${command}\nlistening on port 3000`, `$ ${command}\n${variable}: …\n$ echo $?\n1`);
}

/** How the server starts and stops. */
export const processExplanations: Explanations = {
  'process.port': contrast(
    'Hosts choose the port and say so in PORT; they look for the server there and nowhere else.',
    '$ PORT=8080 node dist/src/main.js\nlistening on port 3000',
    '$ PORT=8080 node dist/src/main.js\nlistening on port 8080',
  ),
  'process.default-port': contrast(
    'The contract names the default; guides and containers go by it.',
    '$ node dist/src/main.js\nlistening on port 8000',
    '$ node dist/src/main.js\nlistening on port 3000',
  ),
  'process.busy-port': contrast(
    'A server on another port than was asked for runs, and cannot be reached.',
    '$ PORT=3000 node dist/src/main.js\nport 3000 is in use, listening on 3001',
    '$ PORT=3000 node dist/src/main.js\nport 3000 is in use\n$ echo $?\n1',
  ),
  'process.no-key': refuses(
    'Without a key no token can be verified: the server could only refuse every call, or none.',
    'PLATFORM_PUBLIC_KEY= node dist/src/main.js',
    'PLATFORM_PUBLIC_KEY or PLATFORM_JWKS_URL',
  ),
  'process.production-auth': refuses(
    'A check that was switched off for a test and forgotten gives every call away.',
    'NODE_ENV=production AUTH=off node dist/src/main.js',
    'AUTH',
  ),
  'process.production-audience': refuses(
    'Without an audience, tokens for any other server would be good here.',
    'NODE_ENV=production PLATFORM_AUDIENCE= node dist/src/main.js',
    'PLATFORM_AUDIENCE',
  ),
  'process.production-https': refuses(
    'The platform calls https only: an audience with http is a mistake that refuses every real call.',
    'NODE_ENV=production PLATFORM_AUDIENCE=http://tools.example.com/mcp node dist/src/main.js',
    'PLATFORM_AUDIENCE',
  ),
  'process.production': contrast(
    'Behind a proxy the server listens on plain HTTP at another address than it is registered under. Tokens are for the registered one.',
    'token for https://tools.example.com/mcp\n→ 401\ntoken for http://127.0.0.1:3000/mcp\n→ 200',
    'token for https://tools.example.com/mcp\n→ 200\ntoken for http://127.0.0.1:3000/mcp\n→ 401',
  ),
  'process.terminate': contrast(
    'Hosts end a server with SIGTERM at each deployment and kill it where it does not go.',
    '$ kill $PID; wait $PID; echo $?\n143',
    '$ kill $PID; wait $PID; echo $?\n0',
  ),
  'process.terminate-during-call': contrast(
    'Whoever was being served at that moment has paid.',
    'tools/call, and SIGTERM while it runs\n→ connection reset',
    'tools/call, and SIGTERM while it runs\n→ 200 {"result": …}, then exit status 0',
  ),
};
