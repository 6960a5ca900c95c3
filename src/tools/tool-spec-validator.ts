import { lazyValidator } from 'market-mcp-contract/json';
import { toolSpecSchema as schema } from './tool-spec-schema.ts';

export { schema };

export const validator = lazyValidator(schema);
