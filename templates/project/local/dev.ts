import { projectDirectory } from '../src/process.ts';
import { develop } from './develop.ts';
import { localEnvironment } from './machine.ts';

await develop(projectDirectory, localEnvironment);
