/** A whole number with a comma between thousands. `toLocaleString` would load the data of all languages: 20 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
