import { loadEnvironment } from './project.ts';
import { refuse } from './refuse.ts';

try {
  loadEnvironment();
} catch (error) {
  refuse([`.env cannot be read: ${(error as Error).message}`]);
}
