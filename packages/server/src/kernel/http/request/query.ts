import { refuse } from '../../failure.ts'

/** Decodes a query whose keys are `declared`; unknown, repeated or broken ones are refused. */
export function readQuery(query: string, declared: ReadonlySet<string>): Record<string, string> {
  const values: Record<string, string> = {}
  for (const pair of query === '' ? [] : query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    if (!declared.has(name)) throw refuse.invalid('unknown query parameter')
    if (Object.hasOwn(values, name)) throw refuse.invalid(`query parameter ${name} is repeated`)
    values[name] = equals < 0 ? '' : decode(pair.slice(equals + 1))
  }
  return values
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw refuse.invalid('the query has a broken percent-encoding')
  }
}
