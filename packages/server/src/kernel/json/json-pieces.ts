import { rowsAtOnce } from '../batching/rows-at-once.ts'
import { afterOthers } from '../clock.ts'

/** JSON with long lists in it that are still to be written. */
export class JsonPieces {
  readonly #text: string
  readonly #parts: readonly Part[]
  #pieces: readonly (string | Buffer)[] | undefined

  constructor(text: string, parts: readonly Part[]) {
    this.#text = text
    this.#parts = parts
  }

  /**
   * Writes long lists, so many rows at a time that others can go on in between; given up once
   * nobody wants them any more.
   */
  async written(isWanted: () => boolean): Promise<void> {
    if (this.#pieces) return
    const pieces: Buffer[] = []
    for (const piece of piecesOf(this.#text, this.#parts)) {
      if (!isWanted()) return
      // As bytes, because to encode all of it would take long as well.
      pieces.push(Buffer.from(piece))
      await afterOthers()
    }
    this.#pieces = pieces
  }

  /** All of it; what is not written yet is written at once. */
  get pieces(): readonly (string | Buffer)[] {
    this.#pieces ??= [...piecesOf(this.#text, this.#parts)]
    return this.#pieces
  }

  get byteLength(): number {
    return this.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  }

  toString(): string {
    return this.pieces.map(String).join('')
  }
}

/** What `compileWriter` makes of a value. */
export type JsonText = string | JsonPieces

/** Puts a mark into the text for each part that it adds. */
export type Write = (value: unknown, parts: Part[]) => string

/** What belongs at a mark: a list that is too long to be written at once. */
export type Part = { readonly rows: readonly unknown[]; readonly write: Write }

/** Stands in a text where a part belongs: as itself this character cannot occur in JSON. */
export const partMark = '\0'

/** Puts the parts in their places. */
export function withParts(text: string, parts: readonly Part[]): JsonText {
  return parts.length === 0 ? text : new JsonPieces(text, parts)
}

function* piecesOf(text: string, parts: readonly Part[]): Generator<string> {
  for (const [at, between] of text.split(partMark).entries()) {
    yield between
    const part = parts[at]
    if (part !== undefined) yield* rowsOf(part)
  }
}

function* rowsOf({ rows, write }: Part): Generator<string> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const parts: Part[] = []
    const text = joinedRows(rows.slice(at, at + rowsAtOnce), (row) => write(row, parts))
    yield* piecesOf(at === 0 ? text : `,${text}`, parts)
  }
}

/** The rows as JSON with commas between them. */
export function joinedRows(rows: readonly unknown[], write: (row: unknown) => string): string {
  let text = ''
  for (const row of rows) text += (text === '' ? '' : ',') + write(row)
  return text
}
