/**
 * Whether this package can be had from the public registry. `node build.js --published` sets it. While it cannot, a
 * project carries the package as a file, and no line that is printed or generated names it as one to be downloaded.
 */
export const isPublished: boolean = false;
