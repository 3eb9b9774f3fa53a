/**
 * How many bits each byte has in the Huffman code of HPACK and QPACK (RFC 7541, appendix B), the
 * end of the text last. The code is canonical: from these lengths it follows.
 */
const bitsOf: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]

const bitsMax = 30
/** Symbols by the length of their code and then by value, with the first code of each length. */
const symbols: readonly number[] = bitsOf
  .map((_bits, symbol) => symbol)
  .sort((a, b) => (bitsOf[a] ?? 0) - (bitsOf[b] ?? 0) || a - b)
const rows = firstCodes()

/** The text of a Huffman code; undefined when it is none. */
export function decodeHuffman(bytes: Uint8Array): string | undefined {
  let text = ''
  let code = 0
  let bits = 0
  for (const byte of bytes) {
    for (let shift = 7; shift >= 0; shift -= 1) {
      code = code * 2 + ((byte >> shift) & 1)
      bits += 1
      const symbol = symbolOf(code, bits)
      if (symbol === undefined) {
        if (bits >= bitsMax) return undefined
        continue
      }
      text += String.fromCharCode(symbol)
      code = 0
      bits = 0
    }
  }
  // The rest of the last byte is filled with ones.
  return bits < 8 && code === 2 ** bits - 1 ? text : undefined
}

function symbolOf(code: number, bits: number): number | undefined {
  const row = rows[bits]
  if (row === undefined || code - row.first >= row.count || code < row.first) return undefined
  const symbol = symbols[row.at + code - row.first]
  return symbol === 256 ? undefined : symbol
}

function firstCodes(): { first: number; count: number; at: number }[] {
  const all: { first: number; count: number; at: number }[] = [{ first: 0, count: 0, at: 0 }]
  let first = 0
  let at = 0
  for (let bits = 1; bits <= bitsMax; bits += 1) {
    const count = bitsOf.filter((each) => each === bits).length
    all.push({ first, count, at })
    first = (first + count) * 2
    at += count
  }
  return all
}
