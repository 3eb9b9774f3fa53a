import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import {
  type ScriptFunction,
  type ScriptHook,
  scriptApi,
  scriptErrorCodes,
  scriptHooks,
  scriptTypes,
} from '@guildhall/contract'
import { roomMember, roomTypes } from './script-room-types.ts'
import { renderTestModule } from './script-test-types.ts'
import { isOptional, typeName, typeText } from './type-text.ts'

/** The declarations for scripts, packages/server/guildhall.d.ts, as the table has them. */
export function renderScriptTypes(): string {
  const spaces = spacesOf(served())
  const top = spaces.get('') ?? []
  const members = [
    ...identity,
    ...hooks().map(([name, hook]) => hookMember(name, hook)),
    roomMember,
    ...top.map(([name, row]) => functionMember(name, row)),
    ...[...spaces].flatMap(([space, rows]) => (space === '' ? [] : [spaceMember(space, rows)])),
  ]
  const shapes = Object.entries(scriptTypes()).map(([name, schema]) => {
    const direction = givenByScripts.has(name) ? 'input' : 'output'
    return `type ${typeName(name)} = ${typeText(schema, direction, schema)}`
  })
  return formatted(
    [
      preamble,
      `type GuildhallErrorCode =\n${scriptErrorCodes.map((code) => `  | '${code}'`).join('\n')}`,
      ...shapes,
      fixedTypes,
      roomTypes,
      `interface Guildhall<G extends GuildhallGame = GuildhallGame> {\n${members.join('\n\n')}\n}`,
      renderTestModule(),
      '',
    ].join('\n\n'),
  )
}

/** As the repository's formatter writes it. */
function formatted(text: string): string {
  const biome = join(import.meta.dirname, '../../node_modules/.bin/biome')
  const format = (input: string) =>
    execFileSync(biome, ['format', '--stdin-file-path=guildhall.d.ts'], { input }).toString()
  // A long line that was broken may be broken better the second time.
  return format(format(`${text.trimEnd()}\n`))
}

/** Shapes that scripts give; the others are answers. */
const givenByScripts = new Set(['Label', 'ChatEvent', 'Op'])

/** The functions that this version serves. */
function served(): [string, ScriptFunction][] {
  return Object.entries<ScriptFunction>(scriptApi).filter(([, { planned }]) => !planned)
}

function hooks(): [string, ScriptHook][] {
  return Object.entries<ScriptHook>(scriptHooks).filter(([, { planned }]) => !planned)
}

type Rows = [string, ScriptFunction][]

function spacesOf(rows: Rows): Map<string, Rows> {
  const spaces = new Map<string, Rows>([['', []]])
  for (const [name, row] of rows) {
    const [space = '', member] = name.split('.')
    const at = member === undefined ? '' : space
    spaces.set(at, [...(spaces.get(at) ?? []), [member ?? space, row]])
  }
  return spaces
}

function spaceMember(space: string, rows: Rows): string {
  const inner = rows
    .map(([name, row]) => functionMember(name, row, { space, indent: '    ' }))
    .join('\n\n')
  return `  readonly ${space}: {\n${inner}\n  }`
}

function functionMember(
  name: string,
  row: ScriptFunction,
  at: { space?: string; indent?: string } = {},
) {
  const { space, indent = '  ' } = at
  const whole = space === undefined ? name : `${space}.${name}`
  const comment = commentOf([row.doc, ...suspends(row), ...raises(row)], row.example, indent)
  return `${comment}\n${indent}${generics[whole] ?? signature(name, row)}`
}

function suspends({ runs }: ScriptFunction): string[] {
  if (runs === 'node') return ['Suspends the handler: other handlers run until it goes on.']
  return runs === 'command' ? ['Takes effect when the slice ends.'] : []
}

function raises({ errors = [] }: ScriptFunction): string[] {
  return errors.length === 0 ? [] : [`Raises ${errors.map((code) => `\`${code}\``).join(', ')}.`]
}

/** A function with its arguments and answer, as TypeScript. */
export function signature(name: string, row: ScriptFunction): string {
  const { args, ok, runs } = row
  const parameters = Object.entries(args).map(([argument, schema]) => {
    const mark = isOptional(schema, 'input') ? '?' : ''
    return `${argument}${mark}: ${typeText(schema, 'input')}`
  })
  const answer = ok === undefined ? 'void' : typeText(ok, 'output')
  if (row.raw) return rawSignatures(name, parameters, answer)
  return `${name}(${parameters.join(', ')}): ${runs === 'node' ? `Promise<${answer}>` : answer}`
}

/** One for who wants bytes of JSON, and one for everybody else. */
function rawSignatures(name: string, parameters: readonly string[], answer: string): string {
  const others = parameters.slice(0, -1)
  const options = (raw: string) => (parameters.at(-1) ?? '').replace(/raw\?: [^;}]*[^;} ]/, raw)
  const forBytes = [...others, options('raw: true').replace('options?', 'options')]
  const forValue = [...others, options('raw?: false | null')]
  return [
    `${name}(${forBytes.join(', ')}): Promise<GuildhallBody<${answer}>>`,
    `${name}(${forValue.join(', ')}): Promise<${answer}>`,
  ].join('\n')
}

function hookMember(name: string, hook: ScriptHook): string {
  const comment = commentOf([hook.doc], hook.example, '  ')
  return `${comment}\n  ${generics[name] ?? hookSignature(name, hook)}`
}

/** The registration of a handler, as TypeScript. */
export function hookSignature(name: string, { slot, args, answer, immediate }: ScriptHook): string {
  const parameters = Object.entries(args).map(
    ([argument, schema]) => `${argument}: ${typeText(schema, 'output')}`,
  )
  const handler = `fn: (${parameters.join(', ')}) => ${returned(answer, immediate)}`
  return `${name}(${firstOf[slot]}${handler}): void`
}

const firstOf = {
  one: '',
  kind: 'kind: number, ',
  method: 'method: string, ',
  index: 'index: string, ',
  cron: 'name: string, cron: string, ',
}

function returned(answer: ScriptHook['answer'], immediate: true | undefined): string {
  if (answer === undefined) return 'GuildhallDone'
  if (answer === 'reply') return 'GuildhallReply | Promise<GuildhallReply>'
  if (answer === 'state') return 'GuildhallAnswer<GuildhallJson>'
  const value = typeText(answer, 'input').replace(/\bnull\b/, 'null | undefined')
  return immediate ? value : `GuildhallAnswer<${value}>`
}

function commentOf(lines: readonly string[], example: readonly string[] = [], indent = '') {
  const shown = example.length === 0 ? [] : ['', '@example', ...example]
  const body = [...lines, ...shown].map((line) => `${indent} * ${line}`.trimEnd()).join('\n')
  return `${indent}/**\n${body}\n${indent} */`
}

/** Where the names and types of a game say more than the table. */
const generics: { readonly [name: string]: string } = {
  on_message: `on_message<K extends GuildhallKindWith<G, 'up'> | 1>(
    kind: K,
    fn: (
      ctx: GuildhallContext & { kind: number; unreliable: boolean },
      body: GuildhallBody<GuildhallOf<G, K, 'up'>>,
    ) => GuildhallDone,
  ): void`,
  on_rpc: `on_rpc<M extends keyof G['rpcs'] & string>(
    method: M,
    fn: (
      ctx: GuildhallContext & { method: string },
      body: GuildhallBody<G['rpcs'][M]['payload']>,
    ) => GuildhallReplyOf<G['rpcs'][M]['reply']>,
  ): void`,
  send: `send<K extends GuildhallKindWith<G, 'down'> | 2>(
    session: number,
    kind: K,
    body: GuildhallBody<GuildhallOf<G, K, 'down'>> | string,
    unreliable?: boolean,
  ): void`,
  broadcast: `broadcast<K extends GuildhallKindWith<G, 'down'> | 2>(
    kind: K,
    body: GuildhallBody<GuildhallOf<G, K, 'down'>> | string,
    unreliable?: boolean,
    options?: { scope?: 'room' | 'all'; room_id?: number; topic?: string; except?: number[] },
  ): void`,
  fail: 'fail(text: string, options?: GuildhallFailure<G>): never',
  transact: `transact<const O extends readonly GuildhallOp[]>(
    ops: O,
    options?: { idempotency_key?: string | null; as?: string | null },
  ): Promise<{ replayed: boolean; results: GuildhallResults<O> }>`,
  storage_write_many: `storage_write_many<
    const O extends readonly Extract<GuildhallOp, { op: 'write' | 'delete' }>[],
  >(ops: O, options?: { as?: string | null }): Promise<GuildhallResults<O>>`,
  'json.encode': 'encode<T>(value: T): GuildhallBody<T>',
  'json.decode': 'decode<T = GuildhallJson>(body: GuildhallBody<T> | string): T',
}

const identity = [
  '/** The name of this node. */\nreadonly node_id: string',
  '/** `sha256:` and 64 hex digits: the content of the script. */\nreadonly revision_id: string',
  '/** Grows by 1 with every start of the script on this node. */\nreadonly generation: number',
  "readonly tier: 'trusted' | 'sandboxed'",
]

const preamble = `// biome-ignore-all lint: generated
/**
 * The script interface of Guildhall, generated from packages/contract/src/script by
 * \`npm run docs\`. With this line at the top of a script, and the path to this file, an editor
 * knows everything:
 *
 *     /// <reference path="../guildhall.d.ts" />
 *
 * Functions raise an \`Error\` with a \`code\` at the call that is wrong: \`invalid_argument\` for
 * a value of the wrong type or out of its bounds, and the codes that stand at each function.
 */
declare const guildhall: Guildhall<any>

/** Bytes of a message or reply. A string stands for its UTF-8 bytes. */
type GuildhallBytes = Uint8Array | string

/** Whatever JSON can say; a bigint is written as an integer. */
type GuildhallJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | GuildhallJson[]
  | { [key: string]: GuildhallJson | undefined }

/** A JSON object: look at what is in it. */
type GuildhallJsonObject = { [key: string]: any }`

const fixedTypes = `/** What a handler may return when its result is not looked at. */
type GuildhallDone = void | Promise<void>

type GuildhallAnswer<T> = T | void | Promise<T | void>

/**
 * The types of one game, as its clients have them: \`const game: Guildhall<MyGame> = guildhall\`.
 * With \`as\` in its place the compiler would not see that \`game.fail\` never returns.
 */
type GuildhallGame = {
  rpcs: { [method: string]: { payload: any; reply: any } }
  kinds: { [kind: number]: { up?: any; down?: any } }
  /** By the name of their definition: what members see, and each of them alone. */
  rooms?: { [definition: string]: { state: any; own?: any } }
  /** By the code that \`fail\` gives: the data that it gives with it. */
  refusals?: { [code: string]: any }
}

/** Bytes that \`json.decode\` makes a T of. */
type GuildhallBody<T> = Uint8Array & { readonly __json?: T }

/** The kinds of a game in one direction; without types of its own, every kind. */
type GuildhallKindWith<G extends GuildhallGame, D extends 'up' | 'down'> =
  number extends keyof G['kinds']
    ? number
    : {
        [K in keyof G['kinds'] & number]: D extends keyof G['kinds'][K] ? K : never
      }[keyof G['kinds'] & number]

type GuildhallOf<G extends GuildhallGame, K, D> = K extends keyof G['kinds']
  ? D extends keyof G['kinds'][K]
    ? G['kinds'][K][D]
    : unknown
  : unknown

/** Code and data of a failure, by those of the game; without types of its own, any. */
type GuildhallFailure<G extends GuildhallGame> = G extends { refusals: infer R }
  ? { [C in keyof R & string]: { code: C; data: R[C] } }[keyof R & string]
  : { code?: string; data?: GuildhallJson }

/** What operations answer, each in its place. */
type GuildhallResults<O extends readonly GuildhallOp[]> = {
  -readonly [N in keyof O]: GuildhallResult<O[N]>
}

type GuildhallResult<O extends GuildhallOp> = O extends { op: 'wallet' }
  ? { balance: bigint; seq: number }
  : O extends { op: 'write' }
    ? { version: string }
    : O extends { op: 'delete' }
      ? { removed: boolean }
      : { id: number }

type GuildhallReply = GuildhallBytes | GuildhallJson | undefined

type GuildhallReplyOf<T> = T | GuildhallBytes | void | Promise<T | GuildhallBytes | void>`
