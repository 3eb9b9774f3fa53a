import { type Bound, holds, type Quantity, type Row } from './benchmark.ts'

const columns = ['what', 'product', 'baseline', 'ratio', 'bound', 'held', 'notes'] as const

/** The rows as a table in Markdown, padded to be read as it is. */
export function table(rows: readonly Row[]): string {
  const cells = [[...columns], ...rows.map(cellsOf)]
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  const [head = '', ...body] = cells.map((row) => {
    return `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  })
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [head, rule, ...body].join('\n')
}

function cellsOf(row: Row): string[] {
  const { what, product, baseline, ratio, bound, notes = '' } = row
  const held = holds(row)
  return [
    what,
    quantity(product),
    baseline === undefined ? '' : `${quantity(baseline)} (${baseline.name})`,
    ratio === undefined ? '' : ratio.toFixed(2),
    bound === undefined ? '' : boundText(bound, product.unit),
    held === undefined ? '' : held ? 'pass' : 'FAIL',
    notes,
  ]
}

function boundText({ of, is, limit }: Bound, unit: string): string {
  const sign = is === 'at least' ? '>=' : '<='
  return of === 'ratio' ? `ratio ${sign} ${limit}` : `${sign} ${quantity({ value: limit, unit })}`
}

/** Three figures are more than a measurement on a shared machine can show. */
function quantity({ value, unit }: Quantity): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  const text = value.toLocaleString('en-US', {
    minimumFractionDigits: Number.isInteger(value) ? 0 : digits,
    maximumFractionDigits: digits,
  })
  return `${text} ${unit}`
}
