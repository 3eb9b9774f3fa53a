/** The least number that `of` finds in any item; undefined when there is none. */
export function minimum<T>(items: Iterable<T>, of: (item: T) => number): number | undefined {
  let least: number | undefined
  for (const item of items) {
    const value = of(item)
    if (least === undefined || value < least) least = value
  }
  return least
}
