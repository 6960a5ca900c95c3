import './server/environment.ts';
import { readConfig } from './config.ts';
import { platform } from './platform.ts';
import { readServerInfo } from './server/project.ts';
import { refuse } from './server/refuse.ts';

const configured = readConfig(process.env, platform);
if (!configured.ok) refuse(configured.errors);

// Loading all the rest takes most of a start: a configuration that is wrong need not wait for it.
const [{ serve }, { tools }] = await Promise.all([import('./server/serve.ts'), import('./tools/index.ts')]);
await serve(configured, readServerInfo(), tools);
