import { projectDirectory } from '../src/server/project.ts';
import { develop } from './develop.ts';
import { localEnvironment } from './machine.ts';

await develop(projectDirectory, localEnvironment);
