import type { Clock } from '../../kernel/clock.ts'
import { DatabaseUnavailable } from '../database.ts'
import {
  type Explorer,
  ExplorerDeadline,
  ExplorerRefusal,
  explorerBytesMax,
  type GivenValue,
  PageTooLarge,
  type Relation,
  type StoredValue,
  type ValueKind,
} from '../explorer/explorer.ts'
import { InTurn, type TurnRun } from '../explorer/in-turn.ts'
import {
  type ExplorerStatement,
  type PageDialect,
  pageClauses,
  quoted,
} from '../explorer/page-query.ts'
import { classified } from './errors.ts'
import type { ExplorerAnswer, ExplorerRequest, ExplorerWorkerData } from './explorer.worker.ts'
import { Thread } from './thread.ts'

/** The explorer of a file, on a thread with a read-only connection of its own. */
export function createFileExplorer(path: string, clock: Clock): Explorer {
  const thread = new ExplorerThread(path, clock)
  return {
    schema: 'main',
    begin() {
      const read = thread.begin()
      return {
        async relations() {
          const [rows = []] = await read([{ text: relationsText, values: [] }])
          return rows.map(([name, type]) => ({
            name: String(name),
            kind: type === 'view' ? ('view' as const) : ('table' as const),
          }))
        },
        async describe(name) {
          const parts = await read(describing.map((text) => ({ text, values: [name] })))
          return relationOf(name, parts)
        },
        async isSmaller({ name }, rows) {
          const text = `SELECT count(*) FROM
            (SELECT 1 FROM main.${quoted(name)} WHERE guildhall_in_time() LIMIT ?1)`
          const [[[found] = []] = []] = await read([{ text, values: [BigInt(rows)] }])
          return Number(found) < rows
        },
        async page(relation, query) {
          const values: GivenValue[] = []
          const { where, orderBy } = pageClauses({ relation, query }, dialect, values)
          const names = relation.columns.map(({ name }) => quoted(name)).join(', ')
          const text = `SELECT ${names} FROM main.${quoted(relation.name)}
            WHERE ${['guildhall_in_time()', ...where].join(' AND ')}
            ${orderBy} LIMIT ${query.limit}`
          const [rows = []] = await read([{ text, values }])
          return rows
        },
      }
    },
    close: () => thread.close(),
  }
}

const dialect: PageDialect = {
  parameter: (number) => `?${number}`,
  contains: (column, parameter) => `instr(${column}, ${parameter}) > 0`,
}

/** The thread is started by the first call, and again after a failure of the file. */
class ExplorerThread {
  readonly #thread: Thread<ExplorerRequest, ExplorerAnswer>
  readonly #inTurn: InTurn
  readonly #over = new Int32Array(new SharedArrayBuffer(4))
  #asked = 0

  constructor(path: string, clock: Clock) {
    const workerData: ExplorerWorkerData = { path, over: this.#over }
    this.#thread = new Thread(new URL('./explorer.worker.ts', import.meta.url), workerData)
    this.#inTurn = new InTurn(clock)
  }

  begin(): (statements: readonly ExplorerStatement[]) => Promise<StoredValue[][][]> {
    const run = this.#inTurn.begin()
    return (statements) => this.#read(run, statements)
  }

  #read(run: TurnRun, statements: readonly ExplorerStatement[]): Promise<StoredValue[][][]> {
    return run(async ({ onOver }) => {
      this.#asked += 1
      const number = this.#asked
      onOver(() => Atomics.store(this.#over, 0, number))
      const request = { number, statements, bytesMax: explorerBytesMax }
      const { rows, failure } = await this.#thread.ask(request)
      if (failure === undefined) return rows
      if (failure === 'over') throw new ExplorerDeadline('a read of the explorer took too long')
      if (failure === 'too large') throw new PageTooLarge('a page of the explorer is too large')
      const error = classified(Object.assign(new Error(failure.message), failure))
      if (!(error instanceof DatabaseUnavailable)) {
        throw new ExplorerRefusal('the file refuses a read of the explorer', { cause: error })
      }
      await this.#thread.close()
      throw error
    })
  }

  /** What is under way or waits ends as if its time were over. */
  async close(): Promise<void> {
    Atomics.store(this.#over, 0, 2 ** 31 - 1)
    await this.#inTurn.idle()
    await this.#thread.close()
  }
}

const relationsText = `SELECT name, type FROM pragma_table_list
  WHERE schema = 'main' AND type <> 'shadow' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name`

/** The relation, its columns, its indexes with their columns, and what it refers to. */
const describing = [
  `SELECT type FROM pragma_table_list
    WHERE schema = 'main' AND type <> 'shadow' AND substr(name, 1, 7) <> 'sqlite_' AND name = ?1`,
  `SELECT name, type, "notnull" OR (pk > 0 AND upper(type) = 'INTEGER'
      AND (SELECT max(pk) FROM pragma_table_info(?1)) = 1) OR (pk > 0 AND
      (SELECT wr OR strict FROM pragma_table_list WHERE schema = 'main' AND name = ?1)), pk
    FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid`,
  `SELECT i.name, i."unique", c.name FROM pragma_index_list(?1) i
    JOIN pragma_index_info(i.name) c
    WHERE i.origin <> 'pk' ORDER BY i.name, c.seqno`,
  `SELECT f.id, f."from", f."table", COALESCE(f."to",
      (SELECT p.name FROM pragma_table_info(f."table") p WHERE p.pk = f.seq + 1))
    FROM pragma_foreign_key_list(?1) f ORDER BY f.id, f.seq`,
]

function relationOf(
  name: string,
  [found = [], columns = [], indexed = [], references = []]: StoredValue[][][],
): Relation | undefined {
  const type = found[0]?.[0]
  if (type === undefined) return undefined
  const keys = columns.filter(([, , , pk]) => Number(pk) > 0)
  const byPlace = keys.toSorted(([, , , a], [, , , b]) => Number(a) - Number(b))
  const indexes = Map.groupBy(indexed, ([index]) => String(index))
  const targets = Map.groupBy(references, ([id]) => String(id))
  return {
    name,
    kind: type === 'view' ? 'view' : 'table',
    columns: columns.map(([column, dataType, required]) => ({
      name: String(column),
      data_type: String(dataType),
      compared_as: String(dataType),
      nullable: Number(required) === 0,
      values: kindOf(String(dataType)),
    })),
    primary_key: byPlace.map(([column]) => String(column)),
    indexes: [...indexes].map(([index, rows]) => ({
      name: index,
      columns: rows.flatMap(([, , column]) => (column === null ? [] : [String(column)])),
      leading: rows[0]?.[2]?.toString() ?? null,
      unique: Number(rows[0]?.[1]) === 1,
    })),
    relations: [...targets.values()].map((rows) => ({
      name: `${name}_${rows.map(([, from]) => String(from)).join('_')}_fkey`,
      columns: rows.map(([, from]) => String(from)),
      referenced_table: { schema: 'main', table: String(rows[0]?.[2]) },
      referenced_columns: rows.map(([, , , to]) => String(to)),
    })),
  }
}

/** The affinity that SQLite gives a declared type. */
function kindOf(dataType: string): ValueKind {
  const type = dataType.toUpperCase()
  if (type.includes('INT')) return 'integer'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'text'
  if (type.includes('BLOB')) return 'bytes'
  return /REAL|FLOA|DOUB/.test(type) ? 'decimal' : 'any'
}
