import { main } from './main.ts';

await main('market-mcp', process.argv.slice(2));
