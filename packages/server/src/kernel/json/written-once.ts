import type { JsonText } from './json-pieces.ts'

/** What was written of answers that several requests share, by the answer. */
const texts = new WeakMap<object, JsonText | undefined>()

/** Marks an answer that several requests are given: it is written as JSON once for all of them. */
export function writtenOnce<T extends object>(answer: T): T {
  texts.set(answer, undefined)
  return answer
}

/** Writes an answer, unless it is shared and was written already. All are of one schema. */
export function writeShared(answer: unknown, write: (value: unknown) => JsonText): JsonText {
  if (typeof answer !== 'object' || answer === null || !texts.has(answer)) return write(answer)
  const known = texts.get(answer)
  if (known !== undefined) return known
  const text = write(answer)
  texts.set(answer, text)
  return text
}
