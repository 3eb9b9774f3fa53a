import { type ScriptFunction, type ScriptHook, scriptApi, scriptHooks } from '@guildhall/contract'
import { hookSignature, signature } from './script-types.ts'
import { isOptional, typeText } from './type-text.ts'

/** The reference page of the script API, docs/script-reference.md, as it follows from the table. */
export function renderScriptPage(): string {
  const functions = Object.entries<ScriptFunction>(scriptApi)
  const hooks = Object.entries<ScriptHook>(scriptHooks)
  const planned = [...hooks, ...functions].flatMap(([name, row]) => (row.planned ? [name] : []))
  return `${[
    introduction,
    '## Hooks',
    ...hooks.filter(([, { planned }]) => !planned).map(([name, row]) => hookSection(name, row)),
    '## Functions',
    ...functions.filter(([, { planned }]) => !planned).map(([name, row]) => section(name, row)),
    ...(planned.length === 0 ? [] : [plannedSection(planned)]),
  ].join('\n\n')}\n`
}

/** What differs, in TypeScript and JavaScript, in Lua, and in Python. */
const differences = [
  [
    'options',
    'an object at the end',
    'a table at the end',
    'keyword arguments; `except_`, `as_`, `from_`',
  ],
  ['`Promise`', 'is awaited', 'a plain call waits', 'is awaited, in `async def`'],
  ['bytes', '`Uint8Array`', 'string', '`bytes`'],
  ['integers of 64 bits', '`bigint`', 'integer', '`int`'],
  ['null', '`null`', 'nil; inside of JSON `guildhall.json.null`', '`None`'],
  ['an empty list', '`[]`', '`guildhall.json.array({})`', '`[]`'],
  ['members', '`ctx.sender`', '`ctx.sender`', '`ctx.sender` or `ctx["sender"]`'],
  [
    'an error',
    '`Error` with `code`',
    'table with `code` and `message`',
    '`guildhall.Error` with `code`',
  ],
  ['a handler', 'the last argument', 'the last argument', 'the last argument, or a decorator'],
] as const

function languageTable(): string {
  const head = ['| | TypeScript, JavaScript | Lua | Python |', '|---|---|---|---|']
  return [...head, ...differences.map((cells) => `| ${cells.join(' | ')} |`)].join('\n')
}

const introduction = `# Script reference

<!-- Generated from packages/contract/src/script; run \`npm run docs\`. -->

Everything that scripts know as \`guildhall\`. [scripting.md](scripting.md) explains how it fits
together. Functions with an answer in \`Promise\` suspend the handler; commands take effect when the
slice ends. A value of the wrong type or out of its bounds raises \`invalid_argument\`. "Trusted"
functions raise \`forbidden\` in the sandboxed tier.

Signatures are those of TypeScript. Every function has the same name and does the same in each
language; what differs:

${languageTable()}

TypeScript and JavaScript in the sandboxed tier have the column of TypeScript. There is no Node.js,
no package, no \`setTimeout\`, \`performance\`, \`SharedArrayBuffer\`, \`Atomics\`,
\`WebAssembly\`, \`FinalizationRegistry\` or \`Intl\`; a deadline holds behind an \`await\` too,
memory beyond the bound is an error that can be caught, and \`track\` of a room changes nothing.
Lua and Python are the same in both tiers, but for the functions that are "trusted".

Editors know them all by \`guildhall.d.ts\`, \`guildhall.lua\` and \`guildhall.pyi\`.`

function hookSection(name: string, hook: ScriptHook): string {
  const order = {
    participant: 'Runs in order with the other calls of its participant.',
    joined: "Waits for the participant's join or return.",
    room: 'Runs in order with the other calls of its room.',
    none: '',
  }
  return [
    `### ${name}`,
    code(hookSignature(name, hook)),
    [hook.doc, order[hook.lane]].filter((line) => line !== '').join(' '),
    ...(hook.example === undefined ? [] : [code(hook.example.join('\n'))]),
  ].join('\n\n')
}

function section(name: string, row: ScriptFunction): string {
  const facts = [
    { node: 'Suspends.', command: 'A command.', worker: '' }[row.runs],
    row.tier === 'trusted' ? 'Trusted.' : '',
    row.errors === undefined ? '' : `Raises ${row.errors.map((each) => `\`${each}\``).join(', ')}.`,
  ].filter((fact) => fact !== '')
  return [
    `### ${name}`,
    code(signature(name, row)),
    [row.doc, ...facts].join(' '),
    ...argumentTable(row),
    ...(row.example === undefined ? [] : [code(row.example.join('\n'))]),
  ].join('\n\n')
}

function argumentTable({ args }: ScriptFunction): string[] {
  const rows = Object.entries(args).flatMap(([name, schema]) => {
    const { description, jsonSchema } = { ...schema.meta() }
    const rule = description ?? ruleIn(jsonSchema)
    if (rule === undefined) return []
    const mark = isOptional(schema, 'input') ? ', optional' : ''
    const type = typeText(schema, 'input').replaceAll('|', '\\|')
    return [`| \`${name}\` | ${type}${mark} | ${String(rule).replaceAll('|', '\\|')} |`]
  })
  return rows.length === 0
    ? []
    : [['| Argument | Type | Rule |', '|---|---|---|', ...rows].join('\n')]
}

function ruleIn(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || !('description' in schema)) return undefined
  return String(schema.description)
}

function plannedSection(names: readonly string[]): string {
  const list = names.map((name) => `\`${name}\``).join(', ')
  return `## Not in this version\n\nTo mention one of these raises \`unavailable\`: ${list}.`
}

function code(text: string): string {
  return `\`\`\`ts\n${text}\n\`\`\``
}
