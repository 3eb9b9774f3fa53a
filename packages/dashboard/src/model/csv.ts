/** Rows of a CSV file as RFC 4180 has them, made safe for spreadsheets. */

export type CsvCell = string | number | bigint | readonly string[] | undefined

/** One line with its end. Lists are separated by blanks, and what is not there is empty. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: CsvCell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'number' || typeof cell === 'bigint') return String(cell)
  const text = typeof cell === 'string' ? cell : cell.join(' ')
  // A spreadsheet would run these as formulas, and somebody else wrote the text. A sign alone is
  // none: it stands where there is no role.
  const safe = /^(?:[=@\t\r\n＝＠＋－]|[+-].)/s.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
