/** JSON for people: exact 64-bit integers, in one line or indented. */

/** One line. Members that are undefined are left out. */
export function jsonText(value: unknown): string {
  return write(value, '', '')
}

/** Two blanks for each level. */
export function jsonPages(value: unknown): string {
  return write(value, '\n', '  ')
}

function write(value: unknown, lineEnd: string, step: string): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    const items = value.map((item) => write(item ?? null, lineEnd && lineEnd + step, step))
    return `[${lineEnd && lineEnd + step}${items.join(`,${lineEnd && lineEnd + step}`)}${lineEnd}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const inner = lineEnd && lineEnd + step
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${step && ' '}${write(member, inner, step)}`)
  return members.length === 0 ? '{}' : `{${inner}${members.join(`,${inner}`)}${lineEnd}}`
}

/** Says what a JSON editor needs to know of an error: where it is. */
export function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const [, positionText] = /position (\d+)/.exec(message) ?? []
  if (positionText === undefined) return 'This is not JSON.'
  const before = text.slice(0, Number(positionText)).split('\n')
  return `This is not JSON: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}.`
}
