/**
 * The known name that a mistyped one most likely stands for: the nearest one of the same section,
 * else the nearest of all, and none when even that differs in more than a third of what was typed.
 * Ties go to the name that comes first.
 */
export function suggest(typed: string, known: Iterable<string>): string | undefined {
  const names = [...known]
  const section = sectionOf(typed)
  const siblings = section === '' ? [] : names.filter((name) => sectionOf(name) === section)
  return nearest(typed, siblings) ?? nearest(typed, names)
}

function sectionOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')))
}

function nearest(typed: string, names: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.floor(typed.length / 3) + 1
  for (const name of names) {
    if (Math.abs(name.length - typed.length) >= bestDistance) continue
    const distance = editDistance(typed, name)
    if (distance >= bestDistance) continue
    best = name
    bestDistance = distance
  }
  return best
}

/**
 * How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`, where no
 * part is edited twice (optimal string alignment).
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1)
      let least = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1)
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (row > 1 && column > 1 && swapped) least = Math.min(least, at(beforeLast, column - 2) + 1)
      current.push(least)
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(cells: readonly number[], index: number): number {
  return cells[index] ?? Number.POSITIVE_INFINITY
}
