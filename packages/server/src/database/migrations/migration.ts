/**
 * One forward step of the schema. Its statements are portable; these words stand for what each
 * engine calls them: `{{text}}` (text that compares by UTF-8 bytes), `{{bigint}}`, `{{bytes}}`,
 * `{{identity}}` (a primary key that counts up and is never reused), `{{counter}}` (one that counts
 * up as well, but may come again once its row is gone, which costs less), `{{strict}}` and
 * `{{clustered}}` (strict, and the rows themselves are kept in the order of the primary key where
 * the engine can).
 */
export type Migration = {
  /** 1, 2, 3, ... without gaps. */
  readonly number: number
  readonly name: string
  /** The oldest binary that may run on a store with this migration, e.g. `0.1.0`. */
  readonly oldestBinary: string
  readonly steps: readonly string[]
}
