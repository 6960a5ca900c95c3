// `npm start`: runs the built server, or reports that it is not built.
import { existsSync } from 'node:fs';

const server = new URL('dist/src/main.js', import.meta.url);
if (existsSync(server)) {
  await import(server.href);
} else {
  console.error(
    [
      'Cannot start.',
      '- dist/src/main.js is missing: the server was not built. Run the build script where the development dependencies',
      '  are installed (npm ci && npm run build, or with your package manager); they can be removed afterwards',
      '  (npm prune --omit=dev).',
    ].join('\n'),
  );
  process.exit(1);
}
