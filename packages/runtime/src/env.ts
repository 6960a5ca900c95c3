export { type Declared, defineEnv, number, secret, text, url } from './source/environment.ts';
