import { atEndOfTurn } from '../../kernel/clock.ts'
import type { Columns, Lookup, Row } from '../statement.ts'

type AnyRow = Row<Columns>
type AnyLookup = Lookup<Columns, Columns>
type Answers = (lookup: AnyLookup, rows: readonly AnyRow[]) => Promise<AnyRow[]>

/** One question that was asked in this turn, however often. */
type Question = {
  readonly params: AnyRow
  readonly answer: PromiseWithResolvers<readonly AnyRow[]>
  readonly found: AnyRow[]
}

type Questions = Map<string, Question>

/**
 * Collects the lookups of one turn of the event loop and asks for those of a kind at once, when the
 * turn ends. While two of a kind are under way, its next questions gather: the busier the node, the
 * fewer its queries, which cost both sides more than what they ask for.
 */
export class MergedLookups {
  readonly #answers: Answers
  readonly #waiting = new Map<AnyLookup, Questions>()
  readonly #underWay = new Map<AnyLookup, number>()
  #isAwaitingTurn = false

  constructor(answers: Answers) {
    this.#answers = answers
  }

  /** All rows that the lookup has for this question. */
  find(lookup: AnyLookup, params: AnyRow): Promise<readonly AnyRow[]> {
    let questions = this.#waiting.get(lookup)
    if (!questions) {
      questions = new Map()
      this.#waiting.set(lookup, questions)
      if (this.#mayAsk(lookup)) this.#askSoon()
    }
    const key = keyOf(lookup.params, params)
    let question = questions.get(key)
    if (!question) {
      question = { params, answer: Promise.withResolvers(), found: [] }
      questions.set(key, question)
    }
    return question.answer.promise
  }

  #askSoon(): void {
    if (this.#isAwaitingTurn) return
    this.#isAwaitingTurn = true
    atEndOfTurn(() => {
      this.#isAwaitingTurn = false
      for (const [lookup, questions] of this.#waiting) {
        if (this.#mayAsk(lookup)) void this.#ask(lookup, questions)
      }
    })
  }

  async #ask(lookup: AnyLookup, questions: Questions): Promise<void> {
    this.#waiting.delete(lookup)
    this.#count(lookup, 1)
    try {
      const asked = [...questions.values()]
      const rows = await this.#answers(
        lookup,
        asked.map(({ params }) => params),
      )
      for (const row of rows) questions.get(keyOf(lookup.params, row))?.found.push(row)
      for (const { answer, found } of asked) answer.resolve(found)
    } catch (error) {
      for (const { answer } of questions.values()) answer.reject(error)
    }
    this.#count(lookup, -1)
    if (this.#waiting.has(lookup)) this.#askSoon()
  }

  #mayAsk(lookup: AnyLookup): boolean {
    return (this.#underWay.get(lookup) ?? 0) < underWayMax
  }

  #count(lookup: AnyLookup, change: 1 | -1): void {
    this.#underWay.set(lookup, (this.#underWay.get(lookup) ?? 0) + change)
  }
}

/** With a second one nothing waits for a connection that is stuck. */
const underWayMax = 2

/**
 * The parameters as one text; with several, each is led by its length, so none runs into another.
 */
function keyOf(params: Columns, row: AnyRow): string {
  let key = ''
  let several = false
  for (const name in params) {
    const part = partOf(row[name])
    if (several) key = `${key.length}:${key}${part}`
    else key = part
    several = true
  }
  return key
}

function partOf(value: AnyRow[string] | undefined): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')
  }
  // No text of the database holds U+0000, so a null is not mistaken for the word.
  return value === null ? '\u0000' : String(value)
}
