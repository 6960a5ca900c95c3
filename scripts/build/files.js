// What src/project uses of fs-extra: a file of the package that is loaded on first use.
export { copySync, ensureDirSync, outputFileSync, readJsonSync, removeSync } from 'fs-extra/esm';
