declare module 'cross-spawn' {
  export { spawn as default } from 'node:child_process';
}
