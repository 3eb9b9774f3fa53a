import type { Columns, ColumnType, Engine, Statement } from '../statement.ts'

/** How one engine spells what a statement's text leaves open. */
export type Dialect = {
  readonly engine: Engine
  /** A parameter; `index` counts the declared parameters from 1. */
  parameter(index: number, type: ColumnType): string
  /** The table that `{{rows}}` stands for. */
  rows(params: Columns): string
  /** What `{{given}}` stands for: all parameters of each row, in the order of declaration. */
  given(params: Columns): string
  /** A row lock, e.g. `lock('update', 'w')`. */
  lock(strength: string, table: string): string
  /** Whether the text `whole` has `part` in it, by bytes. */
  contains(whole: string, part: string): string
  /** The database's clock in Unix milliseconds. */
  readonly now: string
  /** What keeps a subquery in FROM from becoming one with the query around it, where that helps. */
  readonly fence: string
  /** A parameter that no plan depends on. */
  unplanned(parameter: string): string
  /** What lets a subquery in FROM read the tables before it, where that is asked for. */
  readonly lateral: string
}

/** The text that an engine has of a statement, with its words and parameters. */
export function textFor(engine: Engine, { text }: Statement): string {
  return typeof text === 'string' ? text : text[engine]
}

/** The text of a statement as the engine prepares it. Done once per statement and connection. */
export function renderStatement(statement: Statement, dialect: Dialect): string {
  const names = Object.keys(statement.params)
  const used = new Set<string>()
  const parameter = (name: string) => {
    const type = statement.params[name]
    if (type === undefined) throw new Error(`${statement.name} does not declare :${name}`)
    used.add(name)
    return dialect.parameter(names.indexOf(name) + 1, type)
  }
  const text = textFor(dialect.engine, statement).replace(
    tokens,
    (token, word?: string, name?: string) => {
      if (word === 'rows' || word === 'given') for (const each of names) used.add(each)
      if (word !== undefined) return renderWord(word, { statement, dialect, parameter })
      return name === undefined ? token : parameter(name)
    },
  )
  const unused = names.find((name) => !used.has(name))
  if (unused !== undefined)
    throw new Error(`${statement.name} declares :${unused} without using it`)
  return text
}

/** Whether a statement changes nothing, so that it may run on a connection meant for reads. */
export function onlyReads(engine: Engine, statement: Statement): boolean {
  const text = textFor(engine, statement)
  if (text.includes('{{for ')) return false
  if (/^\s*(?:select|values)\b/i.test(text)) return true
  return /^\s*with\b/i.test(text) && !/\b(?:insert|update|delete)\b/i.test(text)
}

/**
 * A statement that declares a row answers with exactly these columns, or was written wrongly; so
 * was one with two columns of one name, of which only one would be seen.
 */
export function checkColumns({ name, row }: Statement, answered: readonly string[]): void {
  const declared = Object.keys(row)
  if (declared.length === 0) return
  const wrong =
    declared.find((column) => !answered.includes(column)) ??
    answered.find((column) => !declared.includes(column))
  if (wrong !== undefined) {
    throw new Error(`${name}: column ${wrong} is not both declared and answered`)
  }
  const twice = answered.find((column, at) => answered.indexOf(column) !== at)
  if (twice !== undefined) throw new Error(`${name}: column ${twice} is answered twice`)
}

/** Literals, quoted names, comments and casts are passed over; then come words and parameters. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|::\w+|\{\{([^}]*)\}\}|:([A-Za-z_][A-Za-z0-9_]*)/g

type Rendering = { statement: Statement; dialect: Dialect; parameter: (name: string) => string }

function renderWord(word: string, { statement, dialect, parameter }: Rendering): string {
  if (word === 'rows') return dialect.rows(statement.params)
  if (word === 'given') return dialect.given(statement.params)
  if (word === 'now') return dialect.now
  if (word === 'fence') return dialect.fence
  if (word === 'lateral') return dialect.lateral
  const lock = /^for (share|update) of (\w+)$/.exec(word)
  if (lock?.[1] && lock[2]) return dialect.lock(lock[1], lock[2])
  const unplanned = /^unplanned :(\w+)$/.exec(word)
  if (unplanned?.[1]) return dialect.unplanned(parameter(unplanned[1]))
  const contains = /^contains ([\w.]+) :(\w+)$/.exec(word)
  if (contains?.[1] && contains[2]) return dialect.contains(contains[1], parameter(contains[2]))
  throw new Error(`${statement.name} uses the unknown word {{${word}}}`)
}
