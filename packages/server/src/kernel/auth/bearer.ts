import { refuse } from '../failure.ts'

/** `Bearer `, exactly so, then 1..4096 visible ASCII characters. */
const wellFormed = /^Bearer ([\x21-\x7e]{1,4096})$/

/**
 * The credential of a request's Authorization lines: undefined when there is none. Two lines, or
 * one of any other form, are refused like a wrong credential.
 */
export function bearerOf(lines: readonly string[]): string | undefined {
  if (lines.length === 0) return undefined
  const token = lines.length === 1 ? wellFormed.exec(lines[0] ?? '')?.[1] : undefined
  if (token === undefined) throw refuse.unauthenticated('malformed authorization header')
  return token
}
