import type { ServeOptions } from './run-server.ts';

// On workerd, this module takes the place of serve.ts: package.json, the condition `workerd`.

let options: ServeOptions | undefined;

/** Takes what the Worker serves. `createWorker` then starts it. */
export async function serve(serveOptions: ServeOptions): Promise<void> {
  options = serveOptions;
}

/** What `serve` was given; undefined before. */
export function servedOptions(): ServeOptions | undefined {
  return options;
}
