/** How much of a line is printed. */
const lineBytes = 8_192
const newline = 10

/**
 * What a script prints, line by line to the output of the process. The end of a long line is left
 * out: what waits for its newline is no part of the memory that a script may use.
 */
export class PrintedLines {
  readonly #to: 'stdout' | 'stderr'
  readonly #line = Buffer.alloc(lineBytes)
  #length = 0
  #isCut = false

  constructor(to: 'stdout' | 'stderr') {
    this.#to = to
  }

  write(bytes: Uint8Array): void {
    let from = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      this.#add(bytes.subarray(from, end))
      this.#print()
      from = end + 1
    }
    this.#add(bytes.subarray(from))
  }

  #add(bytes: Uint8Array): void {
    const taken = bytes.subarray(0, lineBytes - this.#length)
    this.#line.set(taken, this.#length)
    this.#length += taken.length
    this.#isCut ||= taken.length < bytes.length
  }

  #print(): void {
    const end = this.#isCut ? ' [cut]\n' : '\n'
    process[this.#to].write(this.#line.toString('utf8', 0, this.#length) + end)
    this.#length = 0
    this.#isCut = false
  }
}
