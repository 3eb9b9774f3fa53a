import type { Database, Transaction } from '../database.ts'

/** A transaction that may also change the schema. Features never see one. */
export type SchemaTransaction = Transaction & {
  /** Runs one statement of the schema, which is not prepared and has no time limit. */
  ddl(text: string): Promise<void>
}

/** What the migrations need of an engine beyond `Database`. */
export type SchemaAccess = {
  /** A step's text with `{{text}}`, `{{bigint}}` and the other words replaced. */
  render(text: string): string
  /** Runs `body` as one transaction without a time limit for its statements. */
  transaction<T>(body: (tx: SchemaTransaction) => Promise<T>): Promise<T>
  /** Whether the store has a table of this name. */
  hasTable(name: string): Promise<boolean>
  /** Keeps a copy of an embedded file of this schema version; undefined on the other backends. */
  backup: ((version: number) => Promise<void>) | undefined
}

/** A database as `openDatabase` gives it to the composition root. */
export type OpenedDatabase = Database & {
  readonly schema: SchemaAccess
  /** Whether the engine itself made this error, in words of its own. */
  isEngineError(error: unknown): boolean
}

/** Replaces the words of a migration; an unknown one is a mistake of its author. */
export function renderWords(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (token, word: string) => {
    const replacement = words[word]
    if (replacement === undefined) throw new Error(`unknown word ${token} in a migration`)
    return replacement
  })
}
