import {
  type DatabaseCell,
  type DatabaseFilter,
  type DatabaseSort,
  stringifyExact,
} from '@guildhall/contract'
import {
  type Explorer,
  ExplorerDeadline,
  type ExplorerReads,
  ExplorerRefusal,
  PageTooLarge,
  type Relation,
  type StoredValue,
} from '../../database/explorer/explorer.ts'
import { type AuditRecorder, actorOf } from '../../kernel/audit/recorder.ts'
import { type OperatorPrincipal, operatorKey } from '../../kernel/auth/principal.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { Failure, refuse } from '../../kernel/failure.ts'
import { cellsOf, digestOf } from './database.cells.ts'
import { pageFilters, visibleColumn } from './database.filters.ts'
import type { Handles, Held } from './database.handles.ts'
import {
  isComparable,
  isHidden,
  isOrdered,
  isPageable,
  isSensitive,
  protectedTable,
} from './database.marks.ts'

export type ExplorerDeps = {
  /** Undefined in memory. */
  explorer: Explorer | undefined
  handles: Handles
  recorder: Pick<AuditRecorder, 'record'>
}

export type TableReference = { schema: string; table: string }

export type RowsQuery = {
  table: TableReference
  filters?: readonly DatabaseFilter[] | undefined
  sort: DatabaseSort
  limit?: number | undefined
  cursor?: string | undefined
}

type Row = { values: Record<string, DatabaseCell>; row_ref: string }

/** A table of fewer rows is sorted by any column. */
const sortedRowsMax = 100_000
const answerBytesMax = 1_048_576

export type DatabaseExplorer = ReturnType<typeof createDatabaseExplorer>

/** Lets operators look at tables: never at a credential, and never in the way of players. */
export function createDatabaseExplorer({ explorer, handles, recorder }: ExplorerDeps) {
  function record(
    principal: OperatorPrincipal,
    action: 'tables' | 'describe' | 'rows' | 'row',
    { target, returned }: { target: string; returned: number },
  ): void {
    const details = `returned=${returned}`
    recorder.record({ ...actorOf(principal), action: `database.${action}`, target, details })
  }

  /** The relation, unless the caller may not see it, and the reads of its request. */
  async function relationFor(principal: OperatorPrincipal, { schema, table }: TableReference) {
    if (table === protectedTable && !isAdmin(principal)) {
      throw refuse.forbidden('only a human admin may look at the API keys')
    }
    const open = opened(explorer)
    const reads = open.begin()
    const isKnown = schema === open.schema && !isHidden(table)
    const relation = isKnown ? await reads.describe(table) : undefined
    if (relation === undefined) throw refuse.notFound('no such table')
    return { relation, reads }
  }

  /** Who may use a handle, and for what. */
  function ownerOf(principal: OperatorPrincipal, { schema, table }: TableReference): string {
    return JSON.stringify([operatorKey(principal), schema, table])
  }

  function held<K extends Held['is']>(is: K, handle: string, owner: string) {
    const value = handles.find(handle)
    if (value?.is !== is || value.owner !== owner) {
      throw refuse.invalid(`the ${is === 'row' ? 'row_ref' : 'cursor'} is not valid any more`)
    }
    return value as Extract<Held, { is: K }>
  }

  function rowOf(relation: Relation, owner: string, row: readonly StoredValue[]): Row {
    const key = relation.primary_key.map((name) => valueIn(relation, row, name))
    return {
      // A Map, whose order stays, stands for the object.
      values: cellsOf(relation, row) as unknown as Row['values'],
      row_ref: handles.issue({ is: 'row', owner, key, digest: digestOf(row) }),
    }
  }

  return {
    tables: (principal: OperatorPrincipal) =>
      answering(async () => {
        const open = opened(explorer)
        const relations = (await open.begin().relations()).filter(({ name }) => {
          return !isHidden(name) && (name !== protectedTable || isAdmin(principal))
        })
        record(principal, 'tables', { target: 'database', returned: relations.length })
        return {
          tables: relations.map(({ name, kind }) => {
            return { table: { schema: open.schema, table: name }, kind }
          }),
        }
      }),

    describe: (principal: OperatorPrincipal, table: TableReference) =>
      answering(async () => {
        const { relation, reads } = await relationFor(principal, table)
        const columns = await describeColumns(reads, relation)
        record(principal, 'describe', { target: table.table, returned: 1 })
        return {
          table,
          capabilities: {
            views: true,
            indexes: true,
            foreign_keys: true,
            stable_keyset_pagination: isPageable(relation),
          },
          columns,
          primary_key: relation.primary_key,
          indexes: relation.indexes,
          relations: relation.relations,
        }
      }),

    rows: (principal: OperatorPrincipal, query: RowsQuery) =>
      answering(async () => {
        const { table, filters = [], sort, limit = 50 } = query
        const { relation, reads } = await relationFor(principal, table)
        expectPageable(relation)
        const wanted = pageFilters(relation, filters)
        await expectSortable(reads, relation, sort.column)
        const owner = ownerOf(principal, table)
        const question = sha256(stringifyExact([filters, sort])).toString('base64url')
        const cursor = query.cursor === undefined ? undefined : held('cursor', query.cursor, owner)
        if (cursor !== undefined && cursor.question !== question) {
          throw refuse.invalid('the cursor belongs to another sort or other filters')
        }
        const rest = relation.primary_key.filter((column) => column !== sort.column)
        const columns = [sort.column, ...rest]
        const found = await reads.page(relation, {
          filters: wanted,
          order: { columns, direction: sort.direction },
          after: cursor?.after,
          // One more says whether there is a next page.
          limit: limit + 1,
        })
        const shown = found.slice(0, limit)
        const rows = shown.map((row) => rowOf(relation, owner, row))
        const last = found.length > limit ? shown.at(-1) : undefined
        const after = last && columns.map((name) => valueIn(relation, last, name))
        const next = after && handles.issue({ is: 'cursor', owner, question, after })
        const answer = { table, rows, ...(next === undefined ? {} : { next }) }
        expectBounded(answer)
        record(principal, 'rows', { target: table.table, returned: rows.length })
        return answer
      }),

    row: (
      principal: OperatorPrincipal,
      { table, row_ref }: { table: TableReference; row_ref: string },
    ) =>
      answering(async () => {
        const { relation, reads } = await relationFor(principal, table)
        expectPageable(relation)
        const owner = ownerOf(principal, table)
        const { key, digest } = held('row', row_ref, owner)
        const [row] = await reads.page(relation, {
          filters: relation.primary_key.map((column, at) => {
            const value = key[at] ?? null
            return { column, operator: value === null ? 'null' : '=', value }
          }),
          order: { columns: relation.primary_key, direction: 'asc' },
          after: undefined,
          limit: 1,
        })
        if (row === undefined || digestOf(row) !== digest) {
          throw refuse.notFound('the row has changed or is gone')
        }
        const answer = { ...rowOf(relation, owner, row) }
        expectBounded(answer)
        record(principal, 'row', { target: table.table, returned: 1 })
        return answer
      }),
  }
}

function isAdmin(principal: OperatorPrincipal): boolean {
  return principal.kind === 'human' && principal.role === 'admin'
}

function opened(explorer: Explorer | undefined): Explorer {
  if (explorer === undefined) throw refuse.invalid('the in-memory backend cannot be explored')
  return explorer
}

async function describeColumns(reads: ExplorerReads, relation: Relation) {
  const isSorted = (name: string) => isOrdered(relation, name)
  const isSmall =
    isPageable(relation) &&
    !relation.columns.every(({ name }) => isSorted(name)) &&
    (await reads.isSmaller(relation, sortedRowsMax))
  return relation.columns.map((column) => {
    const { name, data_type, nullable } = column
    const sensitive = isSensitive(relation.name, name)
    const sortable =
      isPageable(relation) && !sensitive && isComparable(column) && (isSmall || isSorted(name))
    return { name, data_type, nullable, sensitive, sortable }
  })
}

function expectPageable(relation: Relation): void {
  if (!isPageable(relation)) throw refuse.invalid('the table has no key to page by')
}

async function expectSortable(reads: ExplorerReads, relation: Relation, name: string) {
  const column = visibleColumn(relation, name)
  if (isComparable(column)) {
    if (isOrdered(relation, name)) return
    if (await reads.isSmaller(relation, sortedRowsMax)) return
  }
  throw refuse.invalid('column cannot be sorted')
}

function expectBounded(answer: object): void {
  if (Buffer.byteLength(stringifyExact(answer)) > answerBytesMax) throw tooLarge()
}

function tooLarge() {
  return refuse.invalid('the answer is larger than 1 MiB; ask for fewer rows')
}

function valueIn({ columns }: Relation, row: readonly StoredValue[], name: string): StoredValue {
  return row[columns.findIndex((column) => column.name === name)] ?? null
}

/** Turns what the explorer throws into the answers of the interface. */
async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PageTooLarge) throw tooLarge()
    if (error instanceof ExplorerDeadline) {
      throw new Failure('deadline_exceeded', { reason: error.message })
    }
    if (error instanceof ExplorerRefusal) {
      throw refuse.invalid('the database refuses the read: a view may be broken, or a value wrong')
    }
    throw error
  }
}
