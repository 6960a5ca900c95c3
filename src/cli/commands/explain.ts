export { explain } from 'market-mcp-contract/program';
