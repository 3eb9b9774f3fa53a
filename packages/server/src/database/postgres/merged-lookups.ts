import { atEndOfTurn } from '../../kernel/clock.ts'
import type { Columns, Lookup, Row } from '../statement.ts'

type AnyRow = Row<Columns>
type AnyLookup = Lookup<Columns, Columns>
type Answers = (lookup: AnyLookup, rows: readonly AnyRow[]) => Promise<AnyRow[]>

/** One question that was asked in this turn, however often. */
type Question = {
  readonly params: AnyRow
  readonly answer: PromiseWithResolvers<AnyRow | undefined>
}

/** Collects the lookups of one turn of the event loop and asks for them in one round trip each. */
export class MergedLookups {
  readonly #answers: Answers
  #turn = new Map<AnyLookup, Map<string, Question>>()

  constructor(answers: Answers) {
    this.#answers = answers
  }

  find(lookup: AnyLookup, params: AnyRow): Promise<AnyRow | undefined> {
    if (this.#turn.size === 0) atEndOfTurn(() => this.#flush())
    let questions = this.#turn.get(lookup)
    if (!questions) {
      questions = new Map()
      this.#turn.set(lookup, questions)
    }
    const key = keyOf(lookup.params, params)
    let question = questions.get(key)
    if (!question) {
      question = { params, answer: Promise.withResolvers() }
      questions.set(key, question)
    }
    return question.answer.promise
  }

  #flush(): void {
    const turn = this.#turn
    this.#turn = new Map()
    for (const [lookup, questions] of turn) void this.#ask(lookup, questions)
  }

  async #ask(lookup: AnyLookup, questions: ReadonlyMap<string, Question>): Promise<void> {
    try {
      const asked = [...questions.values()]
      const rows = await this.#answers(
        lookup,
        asked.map(({ params }) => params),
      )
      for (const row of rows) questions.get(keyOf(lookup.params, row))?.answer.resolve(row)
      for (const { answer } of asked) answer.resolve(undefined)
    } catch (error) {
      for (const { answer } of questions.values()) answer.reject(error)
    }
  }
}

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
