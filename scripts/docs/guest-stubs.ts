import {
  type ScriptFunction,
  type ScriptHook,
  scriptApi,
  scriptErrorCodes,
  scriptHooks,
  scriptTypes,
} from '@guildhall/contract'
import { nameIn } from '../../packages/server/src/script/functions/guest-names.ts'
import { type Shape, shapeOf } from '../../packages/server/src/script/functions/shapes.ts'

/**
 * What editors read of `guildhall` in Lua and Python: packages/server/guildhall.lua (LuaLS) and
 * packages/server/guildhall.pyi, as the table has them.
 */
export function renderLuaStub(): string {
  const classes = Object.entries(scriptTypes()).map(([name, schema]) => {
    return luaClass(`guildhall.${name}`, shapeOf(schema))
  })
  const spaces = [...new Set(rows().flatMap(([name]) => spaceOf(name)))]
  return `${[
    luaHead,
    ...classes,
    luaIdentity,
    ...spaces.map((space) => `guildhall.${space} = {}`),
    luaExtras,
    ...hooks().map(([name, hook]) => luaHook(name, hook)),
    ...rows().map(([name, row]) => luaFunction(name, row)),
    'return guildhall',
  ].join('\n\n')}\n`
}

export function renderPythonStub(): string {
  const classes = Object.entries(scriptTypes()).map(([name, schema]) => {
    return pythonClass(name, shapeOf(schema))
  })
  const top = rows().filter(([name]) => spaceOf(name).length === 0)
  const spaces = [...new Set(rows().flatMap(([name]) => spaceOf(name)))]
  return `${[
    pythonHead,
    ...classes,
    ...hooks().map(([name, hook]) => pythonHook(name, hook)),
    ...top.map(([name, row]) => pythonFunction(name, row, '')),
    ...spaces.map(pythonSpace),
  ].join('\n\n')}\n`
}

function rows(): [string, ScriptFunction][] {
  return Object.entries<ScriptFunction>(scriptApi).filter(([, { planned }]) => !planned)
}

function hooks(): [string, ScriptHook][] {
  return Object.entries<ScriptHook>(scriptHooks).filter(([, { planned }]) => !planned)
}

function spaceOf(name: string): string[] {
  return name.includes('.') ? name.split('.').slice(0, 1) : []
}

const named = new Map(
  Object.entries(scriptTypes()).map(([name, schema]) => [JSON.stringify(shapeOf(schema)), name]),
)

const errorCodes = scriptErrorCodes.map((code) => `"${code}"`).join('|')

const luaHead = `---@meta guildhall
-- Generated from packages/contract/src/script; run \`npm run docs\`.

---@alias guildhall.Code ${errorCodes}

---@class guildhall.Error
---@field code guildhall.Code
---@field message string
---@field index? integer of several operations, which one failed first
---@field reason? string of an http_error, which rule`

const luaIdentity = `---@class guildhall
---@field node_id string
---@field revision_id string
---@field generation integer
---@field tier "trusted"|"sandboxed"
guildhall = {}`

const luaExtras = `---Null inside of JSON.
guildhall.json.null = nil

---Marks a table as a list, which an empty one is not by itself.
---@generic T
---@param t T[]
---@return T[]
function guildhall.json.array(t) end

---Defines rooms with state, by the name that their labels have as mode: a table of handlers, with
---\`message\` by kind and \`rpc\` by method, and of tick_hz, sync_hz and decimals. Handlers have
---the room as their last argument: room_id, match_id, name, label, members, state, broadcast,
---send, after.
---@param name string
---@param definition table<string, any>
function guildhall.room(name, definition) end`

function luaClass(name: string, shape: Shape): string {
  if (shape.kind !== 'object') return `---@alias ${name} ${luaType(shape, true)}`
  const fields = Object.entries(shape.members).map(([member, each]) => {
    return `---@field ${member}${isOptional(each) ? '?' : ''} ${luaType(each)}`
  })
  return [`---@class ${name}`, ...fields].join('\n')
}

function luaFunction(name: string, row: ScriptFunction): string {
  const { doc, args, ok, runs } = row
  const parameters = Object.entries(args).map(([argument, schema]) => {
    const shape = shapeOf(schema)
    return { name: nameIn('lua', argument), optional: isOptional(shape), type: luaType(shape) }
  })
  return [
    `---${doc}`,
    ...(runs === 'node' ? ['---Suspends the handler.', '---@async'] : []),
    ...parameters.map((each) => `---@param ${each.name}${each.optional ? '?' : ''} ${each.type}`),
    ...(ok === undefined ? [] : [`---@return ${luaType(shapeOf(ok))}`]),
    ...(row.raw ? [luaRaw(parameters.slice(0, -1))] : []),
    `function guildhall.${name}(${parameters.map((each) => each.name).join(', ')}) end`,
  ].join('\n')
}

/** With `raw` among its options it answers JSON. */
function luaRaw(others: readonly { name: string; type: string }[]): string {
  const given = [...others, { name: 'options', type: '{ raw: true, [string]: any }' }]
  const parameters = given.map(({ name, type }) => `${name}: ${type}`).join(', ')
  return `---@overload async fun(${parameters}): string`
}

const slotParameter = {
  one: [],
  kind: ['kind'],
  method: ['method'],
  index: ['index'],
  cron: ['name', 'cron'],
} as const

function luaHook(name: string, { doc, slot, args, answer }: ScriptHook): string {
  const handler = Object.entries(args)
    .map(([argument, schema]) => `${argument}: ${luaType(shapeOf(schema))}`)
    .join(', ')
  const slots = slotParameter[slot]
  return [
    `---${doc}`,
    ...slots.map((each) => `---@param ${each} ${each === 'kind' ? 'integer' : 'string'}`),
    `---@param fn fun(${handler})${answer === undefined ? '' : ': any'}`,
    `function guildhall.${name}(${[...slots, 'fn'].join(', ')}) end`,
  ].join('\n')
}

function isOptional(shape: Shape): boolean {
  return shape.mayBeAbsent || shape.takesNull
}

function luaType(shape: Shape, own = false): string {
  const name = own ? undefined : named.get(JSON.stringify(shape))
  if (name !== undefined) return `guildhall.${name}`
  switch (shape.kind) {
    case 'text':
    case 'bytes':
      return 'string'
    case 'number':
      return 'number'
    case 'integer':
    case 'int64':
      return 'integer'
    case 'boolean':
      return 'boolean'
    case 'function':
      return 'fun()'
    case 'list':
      return `(${luaType(shape.each)})[]`
    case 'record':
      return `table<string, ${luaType(shape.each)}>`
    case 'one of':
      return [...new Set(shape.options.map((each) => luaType(each)))].join('|')
    case 'object':
      return `{ ${Object.entries(shape.members)
        .map(([member, each]) => `${member}${isOptional(each) ? '?' : ''}: ${luaType(each)}`)
        .join(', ')} }`
    case 'null':
      return 'nil'
    case 'never':
      return 'nil'
    case 'json':
      return 'any'
  }
}

const pythonHead = `# Generated from packages/contract/src/script; run \`npm run docs\`.
import builtins
from typing import Any, Callable, Iterator, Literal, NoReturn, TypeVar, overload

Handler = TypeVar("Handler", bound=Callable[..., Any])

node_id: str
revision_id: str
generation: int
tier: Literal["trusted", "sandboxed"]

class Error(Exception):
    code: Literal[${scriptErrorCodes.map((code) => `"${code}"`).join(', ')}]
    message: str
    index: int | None
    reason: str | None

class Row:
    """What the host answers: members are attributes and keys."""
    def __getitem__(self, name: str) -> Any: ...
    def __setitem__(self, name: str, value: Any) -> None: ...
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def get(self, name: str, default: Any = ...) -> Any: ...

class StateRoom:
    room_id: int
    match_id: str
    name: str | None
    label: Any
    members: list[Row]
    state: Any
    def broadcast(self, kind: int, body: bytes | str, **options: Any) -> None: ...
    def send(self, participant: int, kind: int, body: bytes | str, **options: Any) -> None: ...
    def after(self, ms: int, fn: Callable[[], Any]) -> int: ...

def room(name: str, definition: dict[str, Any] | None = None, **members: Any) -> None:
    """Defines rooms with state, by the name that their labels have as mode: handlers, with
    \`message\` by kind and \`rpc\` by method, and tick_hz, sync_hz, decimals."""`

function pythonClass(name: string, shape: Shape): string {
  if (shape.kind !== 'object') return `${name} = ${pythonPlainType(shape)}`
  const fields = Object.entries(shape.members).map(([member, each]) => {
    return `    ${nameIn('python', member)}: ${pythonType(each)}`
  })
  return [`class ${name}(Row):`, ...fields].join('\n')
}

function pythonSpace(space: string): string {
  const functions = rows().filter(([name]) => name.startsWith(`${space}.`))
  const members = functions.map(([name, row]) =>
    pythonFunction(name.split('.')[1] ?? '', row, '    '),
  )
  return [`class ${space}:`, ...members].join('\n')
}

function pythonFunction(name: string, row: ScriptFunction, indent: string): string {
  const { doc, args, ok, runs } = row
  const parameters = Object.entries(args).flatMap(([argument, schema]) => {
    const shape = shapeOf(schema)
    return argument === 'options' ? pythonOptions(shape) : [pythonParameter(argument, shape)]
  })
  const answer = ok === undefined ? 'None' : pythonType(shapeOf(ok))
  const head = `${indent}${runs === 'node' ? 'async def' : 'def'} ${nameIn('python', name)}`
  const given = (raw: string) => parameters.map((each) => (/^raw:/.test(each) ? raw : each))
  const isStatic = indent === '' ? [] : [`${indent}@staticmethod`]
  const forBytes = [
    `${indent}@overload`,
    ...isStatic,
    `${head}(${given('raw: Literal[True]').join(', ')}) -> bytes: ...`,
    `${indent}@overload`,
  ]
  const own = row.raw ? given('raw: Literal[False] | None = ...') : parameters
  return [
    ...(row.raw ? forBytes : []),
    ...isStatic,
    `${head}(${own.join(', ')}) -> ${answer}:`,
    `${indent}    """${doc.replaceAll('\\', '')}"""`,
  ].join('\n')
}

/** Options are passed by their names. */
function pythonOptions(shape: Shape): string[] {
  if (shape.kind !== 'object') return [pythonParameter('options', shape)]
  const members = Object.entries(shape.members).map(([name, each]) => pythonParameter(name, each))
  return ['*', ...members]
}

function pythonParameter(name: string, shape: Shape): string {
  const type = `${nameIn('python', name)}: ${pythonType(shape, pythonGiven)}`
  // What takes nothing is given as None; only what may be left out has a default.
  return shape.mayBeAbsent ? `${type} = ...` : type
}

/** A handler may leave out its last arguments, which no type of a function says. */
function pythonHook(name: string, { doc, slot, args }: ScriptHook): string {
  const slots = slotParameter[slot].map((each) => `${each}: ${each === 'kind' ? 'int' : 'str'}`)
  const handler = Object.entries(args).map(([argument, schema]) => {
    const type = pythonType(shapeOf(schema))
    return `${nameIn('python', argument)}${type === 'Any' ? '' : `: ${type}`}`
  })
  return [
    '@overload',
    `def ${name}(${[...slots, 'fn: Handler'].join(', ')}) -> Handler: ...`,
    '@overload',
    `def ${name}(${slots.join(', ')}) -> Callable[[Handler], Handler]:`,
    `    """${doc} Its handler, also decorated: fn(${handler.join(', ')})."""`,
  ].join('\n')
}

function pythonType(shape: Shape, typeOf: typeof pythonAnswered = pythonAnswered): string {
  const type = typeOf(shape)
  const isNeverNone = type === 'Any' || type === 'None' || shape.kind === 'bytes'
  return shape.takesNull && !isNeverNone ? `${type} | None` : type
}

function pythonAnswered(shape: Shape): string {
  return named.get(JSON.stringify(shape)) ?? pythonPlainType(shape)
}

/** What a script gives: a dict where it gets a row, and text where it gets bytes. */
function pythonGiven(shape: Shape): string {
  if (shape.kind === 'record') return 'dict[str, Any]'
  if (shape.kind === 'bytes') return 'bytes | str'
  const name = named.get(JSON.stringify(shape))
  if (name === undefined) return pythonPlainType(shape)
  return shape.kind === 'object' ? `${name} | dict[str, Any]` : name
}

function pythonPlainType(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
      return 'str'
    case 'bytes':
      return 'bytes'
    case 'number':
      return 'int | float'
    case 'integer':
    case 'int64':
      return 'int'
    case 'boolean':
      return 'bool'
    case 'function':
      return 'Callable[[], Any]'
    case 'list':
      return `builtins.list[${pythonType(shape.each)}]`
    case 'record':
      return `dict[str, ${pythonType(shape.each)}]`
    case 'one of':
      return [...new Set(shape.options.map((each) => pythonType(each)))].join(' | ')
    case 'object':
      return 'Any'
    case 'null':
      return 'None'
    case 'never':
      return 'NoReturn'
    case 'json':
      return 'Any'
  }
}
