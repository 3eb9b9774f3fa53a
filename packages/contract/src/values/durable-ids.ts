import { text } from './fields.ts'

type Prefix = 'mt1-' | 'ml1-' | 'au1-' | 'ats1-'

/**
 * The id of something that is recorded, as a filter or a cursor: the text order of ids is the order
 * of time. Either case is accepted.
 */
export function durableId(prefix: Prefix) {
  return text((value) => isDurableId(prefix, value), `must be an id that begins with ${prefix}`, {
    pattern: `^${prefix}[0-9a-fA-F]{29}$`,
  })
}

/** Whether a text can be such an id at all. */
export function isDurableId(prefix: Prefix, value: string): boolean {
  const lower = value.toLowerCase()
  return lower.startsWith(prefix) && /^[0-9a-f]{29}$/.test(lower.slice(prefix.length))
}
