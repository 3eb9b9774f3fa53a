import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, createPlayer } from '@guildhall/client'
import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'
import { recordLag } from '@guildhall/client/lag'
import { expect, it, onTestFinished } from 'vitest'
import { startNodeProcess } from '../../testing/node-process.ts'

const uploadPath = '/v1/diagnostics/captures/upload'

/** The policy of L-START-2, and the other two functions beside it. */
const script = `
const payload = (body) => JSON.parse(new TextDecoder().decode(body))
const named = (body) => payload(body).capture_id
guildhall.on_rpc('ops.lag_start', async (ctx, body) => {
  if (ctx.origin !== 'console') guildhall.fail('forbidden')
  try { return await guildhall.lag.start(payload(body)) }
  catch (error) { guildhall.fail(error.code) }
})
guildhall.on_rpc('ops.lag_flush', async (ctx, body) => guildhall.lag.flush(named(body)))
guildhall.on_rpc('ops.lag_status', async (ctx, body) => guildhall.lag.status(named(body)))
guildhall.on_rpc('own_policy', async (ctx, body) => guildhall.lag.start(payload(body)))
guildhall.on_message(100, (ctx, body) => guildhall.send(ctx.sender, 101, body))
`

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-lag-node-'))
  const keys = {
    'runtime.scripts_dir': join(folder, 'script'),
    'database.url': `sqlite:${join(folder, 'lag.db')}`,
    'lag_diagnostics.enabled': 'true',
    'lag_diagnostics.raw_root': join(folder, 'raw'),
  }
  await Promise.all(['script', 'raw'].map((name) => mkdir(join(folder, name))))
  await writeFile(join(folder, 'script/main.ts'), script)
  const start = () => startNodeProcess(keys)
  let node = await start()
  onTestFinished(async () => {
    await node.stop()
    await rm(folder, { recursive: true })
  })
  return {
    raw: join(folder, 'raw'),
    url: () => node.url,
    async crash() {
      await node.kill()
      node = await start()
    },
  }
}

async function deskAt(url: string): Promise<ConsoleClient> {
  const operator = createConsoleClient(url)
  await operator.signIn({ username: 'admin', password: 'password' })
  return operator
}

async function ask(operator: ConsoleClient, method: string, payload: object) {
  const body = { payload: JSON.stringify(payload) }
  const answer = await operator.runtime.rpc({ params: { method }, body })
  return answer.ok ? JSON.parse(answer.reply) : answer.error
}

async function play(url: string, by: typeof fetch = fetch) {
  const player = createPlayer(url, { fetch: by })
  const username = `lag-${randomUUID()}`
  const { user_id } = await player.signIn.device({ id: username, create: true, username })
  const connection = await player.connect({ transport: 'websocket' })
  return { user_id, connection }
}

const filters = [
  { kind: 101, direction: 'inbound' },
  { kind: 100, direction: 'outbound' },
]

async function talk(connection: Connection, times: number): Promise<void> {
  let heard = 0
  const off = connection.on('envelope', ({ kind }) => {
    if (kind === 101) heard += 1
  })
  for (let sent = 0; sent < times; sent += 1) connection.send(100, 'steer')
  await expect.poll(() => heard).toBe(times)
  off()
}

it('[L-START-2] [L-FLUSH-3] [R-SDK-28] a script starts, watches and ends a capture of the SDK', async () => {
  const node = await open()
  const operator = await deskAt(node.url())
  const { user_id, connection } = await play(node.url())
  const recorder = recordLag(connection, { consent: () => true })
  const options = { user_ids: [user_id], filters, duration_ms: 60_000, label: 'script' }
  await expect.poll(() => ask(operator, 'ops.lag_start', options)).toHaveProperty('capture_id')
  // A player cannot: the policy of the script looks at where the call comes from.
  await expect(
    connection.rpc('ops.lag_start', new TextEncoder().encode(JSON.stringify(options))),
  ).rejects.toMatchObject({ code: 'rpc_refused' })
  const { items } = await operator.lag.captures({ query: {} })
  const capture_id = items[0]?.capture_id ?? ''
  await expect.poll(() => recorder.state).toBe('recording')
  await expect
    .poll(() => ask(operator, 'ops.lag_status', { capture_id }))
    .toMatchObject({
      state: 'recording',
      recorders: [{ status: 'recording' }],
    })
  await talk(connection, 40)
  expect(await ask(operator, 'ops.lag_flush', { capture_id })).toMatchObject({
    attempts: [{ attempt: 1 }],
    skipped: [],
  })
  await expect.poll(() => recorder.state).toBe('uploaded')
  await expect
    .poll(async () => (await operator.lag.reports({ query: {} })).items[0])
    .toMatchObject({ status: 'complete', label: 'script', quality: { sample_count: 80 } })
  const [report] = (await operator.lag.reports({ query: {} })).items
  const shown = [report?.summaries, report?.server].map((side) =>
    side?.map(({ key }) => `${key.packet_kind} ${key.direction} ${key.delivery}`).toSorted(),
  )
  const both = ['100 outbound reliable', '101 inbound reliable']
  expect(shown).toEqual([both, both])
  const { entries } = await operator.audit.list({ query: { limit: 50 } })
  const audited = entries.filter(({ target }) => target === capture_id)
  expect(audited.map(({ action, actor, details }) => [action, actor, details])).toEqual([
    ['lag.flush', 'admin', 'asked=1 skipped=0'],
    ['lag.start', 'admin', 'recorders=1 skipped=0 filters=2'],
  ])
  // Where the script decides by itself, it is the one who asked.
  await connection.rpc('own_policy', new TextEncoder().encode(JSON.stringify(options)))
  const [newest] = (await operator.audit.list({ query: { limit: 50 } })).entries.filter(
    ({ action }) => action === 'lag.start',
  )
  expect(newest).toMatchObject({ actor: 'script', role: '-' })
  await connection.close()
})

it('[L-UP-5] [L-LIFE-2] [L-TOK-1] a node that is killed in an upload leaves nothing of it', async () => {
  const node = await open()
  const operator = await deskAt(node.url())
  const uploads: { headers: Record<string, string>; body: Uint8Array }[] = []
  const { user_id, connection } = await play(node.url(), (input, init) => {
    if (!String(input).endsWith(uploadPath)) return fetch(input, init)
    const upload = init as { headers: Record<string, string>; body: Uint8Array }
    uploads.push(upload)
    halfUpload(node.url(), upload)
    return new Promise(() => {})
  })
  recordLag(connection, { consent: () => true })
  const options = { user_ids: [user_id], filters, duration_ms: 60_000 }
  const started = async () => (await ask(operator, 'lag.start', options)).capture_id
  await expect.poll(started).toBeDefined()
  const [capture] = (await operator.lag.captures({ query: {} })).items
  const { capture_id = '' } = capture ?? {}
  await expect
    .poll(() => ask(operator, 'lag.status', { capture_id }))
    .toMatchObject({ recorders: [{ status: 'recording' }] })
  await ask(operator, 'lag.flush', { capture_id })
  await expect.poll(() => filesOf(node.raw)).toHaveLength(1)
  await node.crash()
  expect(await filesOf(node.raw)).toEqual([])
  const again = await deskAt(node.url())
  expect((await again.lag.captures({ query: {} })).items).toMatchObject([{ state: 'expired' }])
  expect((await again.lag.reports({ query: {} })).items).toEqual([])
  // The key of the boot before is gone with it.
  const [upload] = uploads
  const late = await fetch(node.url() + uploadPath, {
    method: 'POST',
    headers: upload?.headers ?? {},
    body: new Uint8Array(upload?.body ?? []),
  })
  expect(late.status).toBe(404)
  await connection.close()
})

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

/** An upload whose last byte never comes. */
function halfUpload(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: Uint8Array },
): void {
  const socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  const lines = Object.entries({ host: 'x', 'content-length': body.length, ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`POST ${uploadPath} HTTP/1.1\r\n${head}\r\n`)
  socket.write(body.subarray(0, -1))
}
