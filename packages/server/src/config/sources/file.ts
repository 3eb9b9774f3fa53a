import { dirname, resolve } from 'node:path'
import { isKey, type Section } from '../key.ts'
import { type Fault, printable, problemLine, type Source, unknownKeyLine } from '../problem.ts'
import { keys, schema } from '../schema.ts'
import { suggest } from '../suggestion.ts'
import { isSecret, typeName } from '../values/values.ts'
import type { Assignment, Assignments } from './assignment.ts'
import { FileFault, readTextFile } from './files.ts'
import type { LineOf } from './toml-lines.ts'

/** Where to look: `named` when an operator named the file, which must then exist. */
export type FileLocation = { readonly path: string; readonly named: boolean }

export type FileResult = Assignments & {
  /** The file as messages call it; undefined when there is none. */
  readonly name: string | undefined
  readonly readableByOthers: boolean
}

const bytesMax = 1_048_576
const depthMax = 32

/** Reads the configuration file. The parser is loaded only when there is something to parse. */
export async function readConfigFile(location: FileLocation, cwd: string): Promise<FileResult> {
  const path = resolve(cwd, location.path)
  const name = printable(location.path)
  const failed = (problem: string): FileResult => {
    return { name, assignments: [], problems: [problem], readableByOthers: false }
  }
  try {
    const { text, readableByOthers } = readTextFile(path, bytesMax)
    if (text.trim() === '') return { name, assignments: [], problems: [], readableByOthers }
    const parsed = await parse(text)
    if ('wrong' in parsed) return failed(`${name} line ${parsed.line}: ${parsed.wrong}`)
    const context = { name, base: dirname(path), lineOf: parsed.lineOf }
    return { name, readableByOthers, ...collect(parsed.table, context) }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    if (error.missing && !location.named) {
      return { name: undefined, assignments: [], problems: [], readableByOthers: false }
    }
    return failed(`${name}: ${error.message}; allowed: a TOML file`)
  }
}

type Table = Readonly<Record<string, unknown>>
type Parsed = { table: Table; lineOf: LineOf } | { wrong: string; line: number }

async function parse(text: string): Promise<Parsed> {
  const [toml, { locateKeys }] = await Promise.all([import('smol-toml'), import('./toml-lines.ts')])
  try {
    const table = toml.parse(text, { integersAsBigInt: true, maxDepth: depthMax })
    return { table, lineOf: locateKeys(text) }
  } catch (error) {
    if (!(error instanceof toml.TomlError)) throw error
    // The rest of the message quotes the file, which may hold secrets.
    const [reason = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    return { wrong: `not valid TOML: ${printable(reason)}`, line: error.line }
  }
}

type Context = { name: string; base: string; lineOf: LineOf }

/** Matches a parsed document with the schema, section by section. */
function collect(document: Table, { name, base, lineOf }: Context): Assignments {
  const assignments: Assignment[] = []
  const problems: string[] = []
  const sourceOf = (path: readonly string[]): Source => {
    return { layer: 'file', text: `${name} line ${lineOf(path)}` }
  }

  function visit(table: Table, section: Section, above: readonly string[]): void {
    for (const [member, value] of Object.entries(table)) {
      const path = [...above, member]
      const source = sourceOf(path)
      const entry = Object.hasOwn(section, member) ? section[member] : undefined
      const secretKey = entry ? undefined : secretWithFile(path)
      if (entry && isKey(entry)) {
        const raw = { kind: 'typed', value } as const
        assignments.push({ key: path.join('.'), form: 'value', raw, source, base })
      } else if (secretKey !== undefined) {
        const raw = { kind: 'typed', value } as const
        assignments.push({ key: secretKey, form: 'file', raw, source, base })
      } else if (!entry) {
        reportUnknown(value, path)
      } else if (isTable(value)) {
        visit(value, entry, path)
      } else {
        const fault: Fault = { wrong: `is ${typeName(value)}`, allowed: 'a section' }
        problems.push(problemLine(path.join('.'), source, fault))
      }
    }
  }

  function reportUnknown(value: unknown, path: readonly string[]): void {
    if (isTable(value) && Object.keys(value).length > 0) {
      for (const [member, inner] of Object.entries(value)) reportUnknown(inner, [...path, member])
      return
    }
    const dotted = path.join('.')
    problems.push(unknownKeyLine(dotted, sourceOf(path), suggest(dotted, fileNames())))
  }

  visit(document, schema, [])
  return { assignments, problems }
}

/** The secret key whose file form the path is: `database.url` for `database.url_file`. */
function secretWithFile(path: readonly string[]): string | undefined {
  const [, key] = /^(.+)_file$/.exec(path.join('.')) ?? []
  const declared = key === undefined ? undefined : keys.get(key)
  return declared && isSecret(declared) ? key : undefined
}

function* fileNames(): Generator<string> {
  for (const [key, declared] of keys) {
    yield key
    if (isSecret(declared)) yield `${key}_file`
  }
}

function isTable(value: unknown): value is Table {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}
