/**
 * Looks into whatever relations the store has, for operators. Everything is read-only, on a
 * connection (PostgreSQL) or a thread (file) of its own, one read after another, so that it
 * delays nothing else.
 */
export type Explorer = {
  /** The only schema that is shown: `main` on a file, `public` on PostgreSQL. */
  readonly schema: string
  /** The reads of one request. All of them end within `explorerDeadlineMs` of this call. */
  begin(): ExplorerReads
  close(): Promise<void>
}

/**
 * The reads of one request, under one deadline, their waits included.
 *
 * @throws ExplorerDeadline when that time is over
 * @throws ExplorerRefusal when the database refuses what was asked: a broken view, a type without
 *   an order, a value that is none of its type
 */
export type ExplorerReads = {
  /** The names of all tables and views, without the database's own, in text order. */
  relations(): Promise<RelationName[]>
  describe(name: string): Promise<Relation | undefined>
  /** Whether a table has fewer than `rows` rows. */
  isSmaller(relation: Relation, rows: number): Promise<boolean>
  page(relation: Relation, query: PageQuery): Promise<StoredValue[][]>
}

export type RelationName = { name: string; kind: 'table' | 'view' }

export type Relation = RelationName & {
  columns: RelationColumn[]
  primary_key: string[]
  indexes: {
    name: string
    /** Without its expressions, which have no name. */
    columns: string[]
    /** What it is ordered by first; null for an expression. */
    leading: string | null
    unique: boolean
  }[]
  relations: {
    name: string
    columns: string[]
    referenced_table: { schema: string; table: string }
    referenced_columns: string[]
  }[]
}

export type RelationColumn = {
  name: string
  /** As the database calls it. */
  data_type: string
  /** The same without a length, which would cut what is compared with it. */
  compared_as: string
  nullable: boolean
  values: ValueKind
}

/**
 * What a column takes in comparisons. `other` takes the database's own spelling as text; `any` is
 * a column of a file without a type.
 */
export type ValueKind =
  | 'boolean'
  | 'integer'
  | 'decimal'
  | 'text'
  | 'bytes'
  | 'json'
  | 'timestamp'
  | 'any'
  | 'other'

/** A value as the engine answers it: on PostgreSQL always text. */
export type StoredValue = string | number | bigint | Uint8Array | null

/** A value to compare with. */
export type GivenValue = StoredValue | boolean

export type PageFilter = {
  column: string
  /** `null` and `not null` have no value. */
  operator: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'contains' | 'null' | 'not null'
  value: GivenValue
}

export type PageQuery = {
  filters: readonly PageFilter[]
  /** The columns of the order, all in one direction; nulls come first ascending. */
  order: { columns: readonly string[]; direction: 'asc' | 'desc' }
  /**
   * Only rows behind the one that has these values in the columns of the order, which then must
   * end with the primary key.
   */
  after: readonly StoredValue[] | undefined
  limit: number
}

/** How long the reads of a request may take together, with their waits for those before them. */
export const explorerDeadlineMs = 5000

/** What a page may weigh before it is rendered, in bytes. */
export const explorerBytesMax = 1_048_576

export class ExplorerDeadline extends Error {
  override readonly name = 'ExplorerDeadline'
}

export class ExplorerRefusal extends Error {
  override readonly name = 'ExplorerRefusal'
}

/** Thrown for a page of more than `explorerBytesMax`. */
export class PageTooLarge extends Error {
  override readonly name = 'PageTooLarge'
}
