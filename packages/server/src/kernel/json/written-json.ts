/**
 * An answer that is JSON already. It leaves the process as it is, past the filter of declared
 * members, so a test compares what makes it with what the filter would let through.
 */
export class WrittenJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
