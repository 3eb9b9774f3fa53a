/** JSON in pieces, of which some are bytes that were written before. */
export class JsonPieces {
  readonly pieces: readonly (string | Buffer)[]

  constructor(pieces: readonly (string | Buffer)[]) {
    this.pieces = pieces
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

/** Stands in a text where bytes belong: as itself this character cannot occur in JSON. */
export const bytesMark = '\0'

/** Puts the bytes in their places. */
export function withBytes(text: string, bytes: readonly Buffer[]): JsonText {
  if (bytes.length === 0) return text
  const texts = text.split(bytesMark)
  return new JsonPieces(
    texts.flatMap((text, at) => {
      const next = bytes[at]
      return next === undefined ? [text] : [text, next]
    }),
  )
}
