export type DiffLine = { kind: 'same' | 'gone' | 'new'; text: string }

/** More differing lines than this are shown as all gone and all new. */
const linesMax = 1_500

/** What must be done to the lines of `before` to get `after`, with the fewest changes. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n')
  const b = after.split('\n')
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (
    end < Math.min(a.length, b.length) - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end += 1
  }
  const same = (texts: string[]): DiffLine[] => texts.map((text) => ({ kind: 'same', text }))
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ]
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length > linesMax || b.length > linesMax) {
    return [
      ...a.map((text) => ({ kind: 'gone' as const, text })),
      ...b.map((text) => ({ kind: 'new' as const, text })),
    ]
  }
  const common = commonLengths(a, b)
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  const lengthAt = (i: number, j: number) => common[i * (b.length + 1) + j] ?? 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' })
      i += 1
      j += 1
    } else if (j >= b.length || (i < a.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ kind: 'gone', text: a[i] ?? '' })
      i += 1
    } else {
      lines.push({ kind: 'new', text: b[j] ?? '' })
      j += 1
    }
  }
  return lines
}

/** How many lines the rests from each pair of places have in common. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j
      lengths[at] =
        a[i] === b[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0)
    }
  }
  return lengths
}

/** Leaves out what is the same further than `around` lines from any change. */
export function withContext(lines: readonly DiffLine[], around = 3): (DiffLine | 'left out')[] {
  const near = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - around), index + around + 1)
      .some(({ kind }) => kind !== 'same'),
  )
  return lines.flatMap((line, index): (DiffLine | 'left out')[] => {
    if (near[index]) return [line]
    return index === 0 || near[index - 1] ? ['left out'] : []
  })
}
