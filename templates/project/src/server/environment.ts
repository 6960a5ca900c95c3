import { loadEnvironment } from './project.ts';

loadEnvironment();
