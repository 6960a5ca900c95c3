// Serves on Cloudflare Workers what src/main.ts serves. Wrangler bundles both, as wrangler.jsonc says.
import { createWorker } from 'market-mcp-runtime/workers';
import { name, version } from './package.json';
import './src/main.ts';

export default createWorker({ name, version });
