import type { Envelope } from '@guildhall/contract'

/** What an envelope takes beside its body. */
const envelopeBytes = 128

/** Envelopes of one connection that wait for the script, first in, first out. */
export class ScriptLine {
  #envelopes: Envelope[] = []
  #head = 0
  #bytes = 0

  get length(): number {
    return this.#envelopes.length - this.#head
  }

  /** The memory that they take. */
  get bytes(): number {
    return this.#bytes
  }

  push(envelope: Envelope): void {
    this.#envelopes.push(envelope)
    this.#bytes += envelopeBytes + envelope.body.length
  }

  shift(): Envelope | undefined {
    const envelope = this.#envelopes[this.#head]
    if (envelope === undefined) return undefined
    this.#head += 1
    this.#bytes -= envelopeBytes + envelope.body.length
    // A long line is not copied for every envelope that leaves it.
    if (2 * this.#head >= this.#envelopes.length) {
      this.#envelopes = this.#envelopes.slice(this.#head)
      this.#head = 0
    }
    return envelope
  }

  clear(): void {
    this.#envelopes = []
    this.#head = 0
    this.#bytes = 0
  }
}
