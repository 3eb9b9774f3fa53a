/** The memory of a module. It may grow at each call: views from before are empty then. */
export class VmMemory {
  readonly #memory: { readonly buffer: ArrayBuffer }
  #bytes = Buffer.alloc(0)
  #words = new Uint32Array()

  constructor(memory: { readonly buffer: ArrayBuffer }) {
    this.#memory = memory
  }

  /** All of it, until it grows. */
  get bytes(): Buffer {
    if (this.#bytes.length === 0) this.#bytes = Buffer.from(this.#memory.buffer)
    return this.#bytes
  }

  word(at: number): number {
    return this.#allWords[at >>> 2] ?? 0
  }

  setWord(at: number, value: number): void {
    this.#allWords[at >>> 2] = value
  }

  setWords(at: number, values: readonly number[]): void {
    for (let n = 0; n < values.length; n += 1) this.setWord(at + 4 * n, values[n] ?? 0)
  }

  get #allWords(): Uint32Array {
    if (this.#words.length === 0) this.#words = new Uint32Array(this.#memory.buffer)
    return this.#words
  }
}
