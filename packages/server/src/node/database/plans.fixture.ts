import pg from 'pg'
import { vi } from 'vitest'
import { z } from 'zod'
import { Connection } from '../../database/postgres/connections/connection.ts'

/** A statement as it went to PostgreSQL, with the values of one of its calls. */
export type Sent = { name: string; text: string; values: readonly unknown[] }

/** Keeps what is sent to PostgreSQL from now on, and by its name what has a plan. */
export function recordSent(): { sent: Map<string, Sent>; texts: Set<string>; stop(): void } {
  const sent = new Map<string, Sent>()
  const texts = new Set<string>()
  const { query, together } = Connection.prototype
  function keep({ prepared: { name, text }, values }: Parameters<typeof query>[0]): void {
    texts.add(text)
    if (isPlanned.test(text)) sent.set(name, { name, text, values })
  }
  const spies = [
    vi.spyOn(Connection.prototype, 'query').mockImplementation(function (this: Connection, call) {
      keep(call)
      return query.call(this, call)
    }),
    vi.spyOn(Connection.prototype, 'together').mockImplementation(function (
      this: Connection,
      call,
    ) {
      keep(call)
      return together.call(this, call)
    }),
  ]
  return {
    sent,
    texts,
    stop() {
      for (const spy of spies) spy.mockRestore()
    },
  }
}

/** What has a plan, unlike BEGIN. */
const isPlanned = /^\s*(?:select|insert|update|delete|with|values)\b/i

export type Plan = {
  'Node Type': string
  'Total Cost': number
  'Relation Name'?: string | undefined
  'Index Name'?: string | undefined
  'Index Cond'?: string | undefined
  Filter?: string | undefined
  'Parent Relationship'?: string | undefined
  Plans?: Plan[] | undefined
}

const Explained: z.ZodType<Plan> = z.looseObject({
  'Node Type': z.string(),
  'Total Cost': z.number(),
  'Relation Name': z.string().optional(),
  'Index Name': z.string().optional(),
  'Index Cond': z.string().optional(),
  Filter: z.string().optional(),
  'Parent Relationship': z.string().optional(),
  get Plans() {
    return z.array(Explained).optional()
  },
})

export type Explainer = {
  /** The plan of a statement that is kept, and that for the values it was sent with. */
  plans(sent: Sent): Promise<{ kept: Plan; own: Plan }>
  run(command: string): Promise<void>
  close(): Promise<void>
}

/** A connection on which statements are explained, none of them run. */
export async function openExplainer(url: string): Promise<Explainer> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  async function explain(option: string, { text }: Sent, values?: unknown[]): Promise<Plan> {
    const explained = `EXPLAIN (${option}, FORMAT JSON) ${text}`
    const { rows } = await client.query(explained, values)
    return Answer.parse(rows)[0]['QUERY PLAN'][0].Plan
  }
  return {
    plans: async (sent) => ({
      kept: await explain('GENERIC_PLAN', sent),
      own: await explain('COSTS', sent, [...sent.values]),
    }),
    run: async (command) => void (await client.query(command)),
    close: () => client.end(),
  }
}

const Answer = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: Explained })]) })])

/**
 * Whether PostgreSQL plans a statement at each call: it does where a plan for the values looks
 * cheaper than the kept one, by more than it takes for the cost of planning.
 */
export function isPlannedAnew({ kept, own }: { kept: Plan; own: Plan }): boolean {
  return kept['Total Cost'] > own['Total Cost'] + planningCost * (scansOf(own) + 1)
}

/** A thousand times `cpu_operator_cost`, for each table of the statement and once more. */
const planningCost = 2.5

function scansOf(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, child) => sum + scansOf(child), 0)
  return below + (plan['Relation Name'] === undefined ? 0 : 1)
}

/**
 * What of a plan would cost more with every row of a table: a scan from end to end, a search by
 * something else than what the statement asks for, a join that reads a table again for each row.
 * Of tables that are small now only the last one matters, which costs the square of their rows.
 */
export function faultsOf(plan: Plan, { isSmall }: { isSmall: boolean }): string[] {
  return faultsBelow(plan, { isSmall, isLimited: false, isRepeated: false })
}

/** Tables with a row for each of few things, whatever the number of players. */
const alwaysSmall = new Set(['', 'account_totals', 'storage_indexes', 'storage_index_guard'])

type Place = { isSmall: boolean; isLimited: boolean; isRepeated: boolean }

function faultsBelow(plan: Plan, place: Place): string[] {
  const own = faultOf(plan, place)
  const isLoop = plan['Node Type'] === 'Nested Loop'
  const below = (plan.Plans ?? []).flatMap((child) => {
    const isInner = isLoop && child['Parent Relationship'] === 'Inner'
    return faultsBelow(child, {
      ...place,
      // What sorts or groups takes all of its input, however little is wanted of it.
      isLimited: plan['Node Type'] === 'Limit' || (place.isLimited && !takesAll(plan)),
      isRepeated: isInner || place.isRepeated,
    })
  })
  return own === undefined ? below : [own, ...below]
}

function takesAll({ 'Node Type': type }: Plan): boolean {
  return ['Sort', 'Incremental Sort', 'Aggregate', 'Hash', 'WindowAgg', 'SetOp'].includes(type)
}

function faultOf(plan: Plan, { isSmall, isLimited, isRepeated }: Place): string | undefined {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': found, Filter: rest } = plan
  const isScan = type === 'Seq Scan'
  if (alwaysSmall.has(table) || !(isScan || type.startsWith('Index'))) return undefined
  const where = isScan ? table : `${table} by ${plan['Index Name']}`
  if (found === undefined && isRepeated) return `reads ${where} again for each row of a join`
  if (isSmall) return undefined
  if (isScan || (found === undefined && !isLimited)) return `reads all of ${where}`
  const isRange = found === undefined || !/ = |ROW/.test(found)
  return isRange && rest !== undefined ? `searches ${where} for ${rest}` : undefined
}

/**
 * Makes `rows` rows out of those that each table has, with keys of their own. `spread` gives them
 * owners of their own as well: otherwise all belong to those who had the first ones.
 */
export async function multiply(
  explainer: Explainer,
  { rows, spread }: { rows: number; spread: boolean },
): Promise<void> {
  await explainer.run(`
    SET session_replication_role = replica;
    DO $$
    DECLARE
      t record;
      had bigint;
      columns text;
      given text;
    BEGIN
      FOR t IN SELECT c.oid, c.relname FROM pg_class c
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
      LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', t.relname);
        EXECUTE format('SELECT count(*) FROM %I', t.relname) INTO had;
        CONTINUE WHEN had = 0;
        SELECT string_agg(quote_ident(a.attname), ', '),
          string_agg(CASE
            WHEN NOT in_index.varies OR in_check.fixed THEN quote_ident(a.attname)
            WHEN a.atttypid = 'text'::regtype THEN format('%I || ''~'' || (i + had)', a.attname)
            WHEN a.atttypid = 'bytea'::regtype
              THEN format('%I || int4send((i + had)::int)', a.attname)
            WHEN in_index.alone THEN format('%I + i * 1000 * had', a.attname)
            ELSE quote_ident(a.attname)
          END, ', ')
        INTO columns, given
        FROM pg_attribute a,
          LATERAL (SELECT
              EXISTS (SELECT FROM pg_index x WHERE x.indrelid = t.oid
                AND a.attnum = ANY (x.indkey) AND (x.indisunique OR ${spread})) AS varies,
              EXISTS (SELECT FROM pg_index x WHERE x.indrelid = t.oid AND x.indisunique
                AND a.attnum = ANY (x.indkey)
                AND NOT EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = t.oid
                  AND o.attnum = ANY (x.indkey) AND o.atttypid <> 'bigint'::regtype)) AS alone
          ) AS in_index,
          LATERAL (SELECT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = t.oid
            AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) AS fixed) AS in_check
        WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '';
        EXECUTE format('INSERT INTO %1$I (%2$s) SELECT %3$s FROM %1$I,
            generate_series(1, %4$s / %5$s) AS i, (SELECT %5$s::bigint AS had) AS had_rows
          ON CONFLICT DO NOTHING', t.relname, columns, given, ${rows}, had);
      END LOOP;
    END $$;
    SET session_replication_role = origin`)
}
