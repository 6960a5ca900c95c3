/** JSON and YAML documents of others: read within limits, each error with its place. */
export { readDocument, readYaml } from './document.ts';
export { readableToolsByName, readToolList } from './tool-list.ts';
