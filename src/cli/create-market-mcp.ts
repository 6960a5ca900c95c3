import { main } from './main.ts';

await main('create-market-mcp', process.argv.slice(2));
