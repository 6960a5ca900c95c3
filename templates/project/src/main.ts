import './server/environment.ts';
import { readConfig } from './config.ts';
import { platform } from './platform.ts';
import { readServerInfo } from './server/project.ts';
import { serve } from './server/serve.ts';
import { tools } from './tools/index.ts';

await serve(readConfig(process.env, platform), readServerInfo(), tools);
