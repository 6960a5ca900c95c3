import { lazyValidator } from '../contract/ajv.ts';
import { toolSpecSchema as schema } from './tool-spec-schema.ts';

export { schema };

export const validator = lazyValidator(schema);
