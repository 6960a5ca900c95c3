import { platform } from '../src/platform.ts';
import { tools } from '../src/tools/index.ts';
import { curlCommands } from './curl.ts';
import { localPlatform, localUrl } from './machine.ts';

const [name = tools[0]?.name] = process.argv.slice(2);
const tool = tools.find((tool) => tool.name === name);
if (!tool) {
  console.error(`No tool is named ${name}. Tools: ${tools.map((tool) => tool.name).join(', ')}`);
  process.exit(1);
}

const call = {
  url: localUrl,
  token: await localPlatform.sign(localUrl),
  tool: tool.name,
  arguments: tool.examples[0]?.arguments ?? {},
};
console.log(`# The token is valid for ${platform.token.lifetimeSeconds} s. Paste while "npm run dev" runs:`);
console.log(curlCommands(call, platform.token));
