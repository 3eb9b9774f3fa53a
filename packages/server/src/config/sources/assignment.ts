import type { Source } from '../problem.ts'

/** What one source says about one key, before it is checked. */
export type Assignment = {
  /** The dotted name of a known key. */
  readonly key: string
  /** `file` when the value is the path of a file that holds the secret. */
  readonly form: 'value' | 'file'
  readonly raw: Raw
  readonly source: Source
  /** The folder that relative paths in it are relative to. */
  readonly base: string
}

/** TOML has types; the environment and flags have text only. */
export type Raw = { kind: 'typed'; value: unknown } | { kind: 'text'; text: string }

/** What a source holds in all: the keys it sets, and what is wrong with it by itself. */
export type Assignments = {
  readonly assignments: readonly Assignment[]
  readonly problems: readonly string[]
}
