/** A whole number with commas between its thousands. `toLocaleString` loads the data of all languages: 20 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
