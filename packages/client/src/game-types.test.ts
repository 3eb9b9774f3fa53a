import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** What a game's own types allow and refuse, found out by asking the compiler. */

const root = join(import.meta.dirname, '../../..')

const source = JSON.stringify(join(import.meta.dirname, 'index.ts'))
const arena = `type Arena = {
  rpcs: {
    whoami: { payload: undefined; reply: { name: string } }
    buy: { payload: { item: string }; reply: number }
    motto: { payload: undefined; reply: string }
    team: { payload: { id: number }; reply: 'red' | 'blue' | undefined }
    map: { payload: undefined; reply: Uint8Array }
    maybe: { payload: undefined; reply: string | null }
    forget: { payload: undefined; reply: undefined }
  }
  kinds: {
    100: { up: { dx: number } }
    101: { down: { tick: number } }
    102: { up: string; down: string }
  }
  refusals: { gold: { missing: number }; full: null }
}`
const head = `
import { createPlayer, type Connection, type Room } from ${source}
import type { GuildhallError, RefusalOf } from ${source}
${arena}
declare const c: Connection<Arena>
declare const r: Room<Arena>
declare const anything: Connection
declare const e: GuildhallError
`

/** By name: a statement, and whether it compiles. */
const statements: Readonly<Record<string, readonly [statement: string, compiles: boolean]>> = {
  'a method without a payload': ['const n: string = (await c.rpc("whoami")).name', true],
  'a method with its payload': ['const n: number = await c.rpc("buy", { item: "x" })', true],
  'a reply as text': ['const n: string = await c.rpc("whoami", undefined, { as: "text" })', true],
  'a reply as bytes': [
    'const n: Uint8Array = await c.rpc("buy", { item: "x" }, { as: "bytes" })',
    true,
  ],
  'a string as text': [
    'const n: string = await c.rpc("motto", undefined, { as: "text", timeoutMs: 5 })',
    true,
  ],
  'a string as JSON': ['c.rpc("motto")', false],
  'a string as bytes': ['c.rpc("motto", undefined, { as: "bytes" })', false],
  'a string without a form': ['c.rpc("motto", undefined, { timeoutMs: 5 })', false],
  'one of several strings as text': ['c.rpc("team", { id: 1 }, { as: "text" })', true],
  'one of several strings as JSON': ['c.rpc("team", { id: 1 })', false],
  'bytes as bytes': ['const n: Uint8Array = await c.rpc("map", undefined, { as: "bytes" })', true],
  'bytes as JSON': ['c.rpc("map")', false],
  'bytes as text': ['c.rpc("map", undefined, { as: "text" })', false],
  'a string that may be null': ['const n: string | null | undefined = await c.rpc("maybe")', true],
  'a null that is read as undefined': ['const n: string | null = await c.rpc("maybe")', false],
  'no reply': ['const n: undefined = await c.rpc("forget")', true],
  'any reply in any form': [
    'anything.rpc("any"); anything.rpc("any", 1, { as: "text" }); anything.rpc("any", 1, { as: "bytes" })',
    true,
  ],
  'a wrong method': ['c.rpc("sell")', false],
  'a missing payload': ['c.rpc("buy")', false],
  'a wrong payload': ['c.rpc("buy", { item: 1 })', false],
  'a payload where there is none': ['c.rpc("whoami", { x: 1 })', false],
  'a wrong reply': ['const n: string = await c.rpc("buy", { item: "x" })', false],
  'a kind that goes up': ['c.send(100, { dx: 1 }); r.send(102, "x")', true],
  'a position': ['c.send(1, new Uint8Array(8), { unreliable: true })', true],
  'a wrong body': ['c.send(100, { dy: 1 })', false],
  'a wrong kind': ['c.send(103, { dx: 1 })', false],
  'a kind that only comes down': ['c.send(101, { tick: 1 })', false],
  'a kind that is heard': ['r.on(101, (m) => { const n: number = m.json().tick })', true],
  'a kind that only goes up': ['r.on(100, () => {})', false],
  'a wrong body that is heard': ['r.on(101, (m) => { const n: string = m.json().tick })', false],
  'events beside kinds': [
    'r.on("leave", (member, why) => { const s: "left" | "disconnected" | "removed" = why })',
    true,
  ],
  'an unknown event': ['r.on("explode", () => {})', false],
  'rooms of the game': ['const x: Room<Arena> = await c.rooms.joinOrCreate("a")', true],
  'the player of the game': [
    'const p = createPlayer<Arena>("http://localhost"); (await p.connect()).send(100, { dx: 1 })',
    true,
  ],
  'the data of a refusal, by its code': [
    'const said = e.refusal as RefusalOf<Arena> | undefined; if (said?.code === "gold") { const n: number = said.data.missing; n }',
    true,
  ],
  'what a refusal of another code has': [
    'const said = e.refusal as RefusalOf<Arena> | undefined; if (said?.code === "full") said.data.missing',
    false,
  ],
  'an unknown code': [
    'const said = e.refusal as RefusalOf<Arena> | undefined; said?.code === "glod"',
    false,
  ],
  'anything without types': [
    'anything.send(4711, { a: [1n] }); const x: unknown = await anything.rpc("any", 1)',
    true,
  ],
}

const declarations = join(root, 'packages/server/guildhall.d.ts')
const scriptHead = `
/// <reference path=${JSON.stringify(declarations)} />
${arena}
const game: Guildhall<Arena> = guildhall
`

/** The same for a script: by name a statement, and whether it compiles. */
const scriptStatements: Readonly<Record<string, readonly [statement: string, compiles: boolean]>> =
  {
    'a method with its reply': [
      'game.on_rpc("whoami", (ctx) => ({ name: ctx.username ?? "" }))',
      true,
    ],
    'an unknown method': ['game.on_rpc("sell", () => 1)', false],
    'a wrong reply': ['game.on_rpc("buy", () => ({ gold: 1 }))', false],
    'a payload as it was declared': [
      'game.on_rpc("buy", (ctx, body) => { const s: string = game.json.decode(body).item; return s.length })',
      true,
    ],
    'a payload that it is not': [
      'game.on_rpc("buy", (ctx, body) => { const n: number = game.json.decode(body).item; return n })',
      false,
    ],
    'a message as it was declared': [
      'game.on_message(100, (ctx, body) => { const n: number = game.json.decode(body).dx })',
      true,
    ],
    'a message that it is not': [
      'game.on_message(100, (ctx, body) => { const s: string = game.json.decode(body).dx })',
      false,
    ],
    'a kind that only goes down': ['game.on_message(101, () => {})', false],
    'a message down': ['game.broadcast(101, game.json.encode({ tick: 1 }))', true],
    'a message down as text': ['game.send(1, 102, "hi")', true],
    'a wrong message down': ['game.broadcast(101, game.json.encode({ tock: 1 }))', false],
    'a kind that only goes up': ['game.send(1, 100, "x")', false],
    'positions in place of the relay': [
      'game.on_message(1, (ctx, body) => game.broadcast(2, body, true))',
      true,
    ],
    'a refusal with its data': ['game.fail("x", { code: "gold", data: { missing: 1 } })', true],
    'a refusal without a code': ['game.fail("x")', true],
    'a refusal with the data of another': [
      'game.fail("x", { code: "full", data: { missing: 1 } })',
      false,
    ],
    'a refusal of an unknown code': ['game.fail("x", { code: "glod", data: null })', false],
    'any refusal without types': ['guildhall.fail("x", { code: "any", data: [1] })', true],
    'what is behind fail': [
      'game.on_rpc("buy", (ctx) => { if (ctx.username === null) game.fail("no guests"); return ctx.username.length })',
      true,
    ],
    'what is behind fail, in a function of the game': [
      'function owner(ctx: GuildhallContext): string { if (ctx.username === null) { game.fail("no") } return ctx.username }; owner',
      true,
    ],
    'anything without types': [
      'guildhall.on_rpc("any", () => 1); guildhall.send(1, 4711, new Uint8Array()); guildhall.on_message(4711, () => {})',
      true,
    ],
  }

let folder = ''
let complaints = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-types-'))
  // As in a browser's project: the DOM's types, none of Node's.
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      lib: ['es2025', 'dom'],
      types: [],
      noUnusedLocals: false,
      noUnusedParameters: false,
    },
    include: ['*.ts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const [index, [statement]] of Object.values(statements).entries()) {
    await writeFile(join(folder, `case-${index}.ts`), `${head}\n${statement}\nexport {}\n`)
  }
  for (const [index, [statement]] of Object.values(scriptStatements).entries()) {
    await writeFile(
      join(folder, `script-case-${index}.ts`),
      `${scriptHead}\n${statement}\nexport {}\n`,
    )
  }
  complaints = await new Promise((resolve) => {
    const options = ['--checkers', '1', '-p', folder, '--pretty', 'false']
    execFile(join(root, 'node_modules/.bin/tsc'), options, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
}, 120_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a game of its own types', () => {
  it.each(
    Object.entries(statements).map(
      ([name, [, compiles]], index) => [name, compiles, index] as const,
    ),
  )('[R-SDK-22] [S-SEL-6] %s: %s', (_name, compiles, index) => {
    expect(complaintsOf(`/case-${index}.ts(`)).toHaveLength(compiles ? 0 : 1)
  })
})

describe('the script of the same types', () => {
  it.each(
    Object.entries(scriptStatements).map(
      ([name, [, compiles]], index) => [name, compiles, index] as const,
    ),
  )('[R-SDK-22] [S-SEL-6] %s: %s', (_name, compiles, index) => {
    const own = complaintsOf(`script-case-${index}.ts(`)
    expect(own.length > 0).toBe(!compiles)
  })
})

function complaintsOf(file: string): string[] {
  return complaints.split('\n').filter((line) => `/${line}`.includes(file))
}

it('[R-SDK-1] the SDK compiles with the types of a browser alone', () => {
  const lines = complaints.split('\n').filter((line) => line.includes('error TS'))
  expect(lines.filter((line) => !/case-\d+\.ts\(/.test(line))).toEqual([])
})
