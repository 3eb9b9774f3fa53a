import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import { SessionTokens, Status } from '@guildhall/contract'
import parse, { type ParsedFamily } from 'parse-prometheus-text-format'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { uploadResults } from '../../features/lag/uploads/upload-results.ts'
import { createCaller } from '../../testing/api.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'
import { metricHelp } from './metric-names.ts'

const served = { 'metrics.enabled': 'true', 'metrics.bind': '127.0.0.1:0' }

/** Where the metrics of a node are, as its log says. */
function addressOf(node: NodeProcess): string {
  const [, host, port] = /metrics are served host=(\S+) port=(\d+)/.exec(node.output()) ?? []
  return `http://${host}:${port}`
}

async function familiesOf(node: NodeProcess): Promise<Map<string, ParsedFamily>> {
  const answer = await fetch(`${addressOf(node)}/metrics`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return new Map(parse(await answer.text()).map((family) => [family.name, family]))
}

function numberOf(family: ParsedFamily | undefined, labels: Record<string, string> = {}) {
  const found = family?.metrics.find((metric) =>
    Object.entries(labels).every(([name, value]) => metric.labels?.[name] === value),
  )
  return Number(found?.value)
}

describe('the metrics of a node in memory', () => {
  let node: NodeProcess
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-metrics-'))
  beforeAll(async () => {
    writeFileSync(
      join(folder, 'main.mjs'),
      `guildhall.on_rpc('fast', () => new Promise((done) => guildhall.after(20, () => done('x'))))
      guildhall.on_rpc('failing', () => { throw new Error('on purpose') })`,
    )
    const script = { 'runtime.scripts_dir': folder }
    node = await startNodeProcess({ ...served, ...script, 'metrics.auth': 'none' })
  })
  afterAll(async () => {
    await node.stop()
    rmSync(folder, { recursive: true })
  })

  it('[H-MET-3] counts and times requests by method, route template and status', async () => {
    const call = createCaller(node.url)
    const body = { id: 'metrics', create: true, username: 'metrics' }
    await call('POST', '/v1/auth/device', { body })
    await call('POST', '/v1/auth/device', { body: { id: 'nobody' } })
    await call('GET', '/v1/account', { token: 'gh.access.wrong' })
    await call('GET', '/no/such/path')
    const families = await familiesOf(node)
    const requests = families.get('guildhall_http_requests_total')
    const route = '/v1/auth/device'
    expect(numberOf(requests, { method: 'POST', route, status: '201' })).toBe(1)
    expect(numberOf(requests, { method: 'GET', route: 'other', status: '404' })).toBe(1)
    const refused = families.get('guildhall_http_refused_total')
    expect(numberOf(refused, { reason: 'unauthenticated' })).toBe(2)
    const attempts = families.get('guildhall_auth_attempts_total')
    expect(numberOf(attempts, { method: 'device', outcome: 'registered' })).toBe(1)
    expect(numberOf(attempts, { method: 'device', outcome: 'failure' })).toBe(1)
    expect(families.get('guildhall_http_request_duration_seconds')?.type).toBe('HISTOGRAM')
  })

  it('[H-MET-3] [R-MET-1] [S-MET-1] shows every metric of /status under its name', async () => {
    const { metrics } = Status().parse((await createCaller(node.url)('GET', '/status')).body)
    const families = await familiesOf(node)
    for (const name of Object.keys(metrics)) {
      expect(metricHelp, `metric-names.ts lacks ${name}`).toHaveProperty(name)
      const type = name.endsWith('_total') ? 'COUNTER' : 'GAUGE'
      expect(families.get(`guildhall_${name}`), name).toMatchObject({ type })
    }
  })

  it('[L-UP-7] counts uploads of lag recordings by result, and captures by state', async () => {
    const path = '/v1/diagnostics/captures/upload'
    expect((await createCaller(node.url)('POST', path)).status).toBe(404)
    const families = await familiesOf(node)
    const uploads = families.get('guildhall_lag_uploads_total')
    expect(numberOf(uploads, { result: 'disabled' })).toBe(1)
    expect(uploads?.metrics.map(({ labels }) => labels?.result)).toEqual([...uploadResults])
    expect(families.get('guildhall_lag_captures')?.type).toBe('GAUGE')
  })

  it('[O-MET-1] shows tasks, retention, scheduler and database', async () => {
    const families = await familiesOf(node)
    expect(numberOf(families.get('guildhall_task_failing'), { task: 'retention' })).toBe(0)
    expect(numberOf(families.get('guildhall_retention_behind'), { data: 'chat_messages' })).toBe(0)
    expect(numberOf(families.get('guildhall_scheduler_boards_failing'))).toBe(0)
    expect(numberOf(families.get('guildhall_database_state'))).toBe(0)
    expect(numberOf(families.get('guildhall_process_resident_memory_bytes'))).toBeGreaterThan(1e7)
    expect(numberOf(families.get('guildhall_build_info'), { backend: 'in-memory' })).toBe(1)
  })

  it('[S-MET-1] times the calls of the script by hook', async () => {
    const operator = await openOperator({ call: createCaller(node.url) })
    for (const method of ['fast', 'fast', 'failing']) {
      await operator.send('POST', `/runtime/rpc/${method}`, { payload: '' })
    }
    const page = await (await fetch(`${addressOf(node)}/metrics`)).text()
    const name = 'guildhall_script_call_duration_seconds'
    expect(page).toContain(`${name}_count{hook="on_rpc"} 3\n`)
    const [, seconds] = new RegExp(`^${name}_sum\\{hook="on_rpc"\\} (.*)$`, 'm').exec(page) ?? []
    expect(Number(seconds)).toBeGreaterThan(0.02)
    expect(Number(seconds)).toBeLessThan(5)
  })

  it('[H-MET-3] [R-CON-3] shows who waits for a match, who was matched and how long that took', async () => {
    const connections = await Promise.all(
      [1, 2, 3].map(() => createPlayer(node.url).connect({ as: 'guest' })),
    )
    const [ann, bob, cid] = connections
    const searches = [ann, bob].map((player) => player?.matchmaker.find())
    await Promise.all(searches.map(async (search) => (await search)?.room))
    await cid?.matchmaker.find({ query: 'nobody == 1' })
    const families = await familiesOf(node)
    const of = (name: string, labels?: Record<string, string>) =>
      numberOf(families.get(`guildhall_${name}`), labels)
    expect(of('queue_depth', { queue: 'matchmaker' })).toBe(1)
    expect(of('queue_capacity', { queue: 'matchmaker' })).toBe(50_000)
    expect(of('matchmaker_matches_formed_total')).toBe(1)
    expect(of('matchmaker_tickets_total', { outcome: 'matched' })).toBe(2)
    expect(of('matchmaker_tickets_total', { outcome: 'cancelled' })).toBe(0)
    expect(of('matchmaker_passes_total')).toBeGreaterThan(0)
    expect(of('matchmaker_pass_seconds_total')).toBeGreaterThan(0)
    const page = await (await fetch(`${addressOf(node)}/metrics`)).text()
    expect(page).toMatch(/^guildhall_matchmaker_wait_seconds_count 2$/m)
    for (const connection of connections) await connection.close()
    const after = await familiesOf(node)
    const cancelled = after.get('guildhall_matchmaker_tickets_total')
    expect(numberOf(cancelled, { outcome: 'cancelled' })).toBe(1)
  })

  it('[H-MET-1] has nothing but its path, for GET and HEAD', async () => {
    const at = addressOf(node)
    expect((await fetch(`${at}/metrics`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${at}/metrics`, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${at}/status`)).status).toBe(404)
    expect((await fetch(`${node.url}/metrics`)).status).toBe(404)
  })

  it('[H-MET-3] has everything that the dashboard of docs asks for', async () => {
    const file = join(import.meta.dirname, '../../../../../docs/grafana-dashboard.json')
    const names = readFileSync(file, 'utf8').match(/guildhall_\w+/g) ?? []
    const families = await familiesOf(node)
    expect(names.length).toBeGreaterThan(10)
    for (const name of names) {
      expect([...families.keys()]).toContain(name.replace(/_(bucket|sum|count)$/, ''))
    }
  })
})

describe.each(testBackends.filter(({ name }) => name !== 'in-memory'))(
  'the metrics on $name',
  ({ name, open }) => {
    it('[H-MET-2] need an API key with telemetry:read', async () => {
      const { url, db, dispose } = await open()
      await db.close()
      const node = await startNodeProcess({ ...served, 'database.url': url })
      try {
        const call = createCaller(node.url)
        const operator = await openOperator({ call })
        const body = { id: 'a player at the metrics', create: true, username: 'player' }
        const player = SessionTokens().parse((await call('POST', '/v1/auth/device', { body })).body)
        const keyWith = async (scope: string) => {
          const answer = await operator.send('POST', '/api-keys', {
            name: scope,
            scopes: [scope],
            expires_at: null,
          })
          return (answer.body as { secret: string }).secret
        }
        const at = `${addressOf(node)}/metrics`
        const statusWith = async (token: string) =>
          (await fetch(at, { headers: { authorization: `Bearer ${token}` } })).status
        expect((await fetch(at)).status).toBe(401)
        expect(await statusWith('svc_k1_unknown')).toBe(401)
        expect(await statusWith(operator.token)).toBe(401)
        expect(await statusWith(player.token)).toBe(401)
        expect(await statusWith(await keyWith('audit:read'))).toBe(403)
        const headers = { authorization: `Bearer ${await keyWith('telemetry:read')}` }
        const page = await (await fetch(at, { headers })).text()
        expect(page).toMatch(/^guildhall_db_transaction_duration_seconds_count.*commit.* [1-9]/m)
        const statements = /^guildhall_db_query_duration_seconds_count\{statement="/m
        expect(statements.test(page)).toBe(name === 'postgres')
        // The queues of all features, and the use of a key, which this scrape has made.
        const { write_behind } = Status().parse((await call('GET', '/status')).body)
        const names = [...page.matchAll(/^guildhall_queue_depth\{queue="(\w+)"\} /gm)]
        const queues = write_behind.map(({ name }) => name)
        expect(queues).toEqual(
          expect.arrayContaining(['audit', 'script_logs', 'slices', 'matches']),
        )
        expect(names.map(([, queue]) => queue)).toEqual(
          expect.arrayContaining([...queues, 'key_use', 'script_inbox', 'matchmaker']),
        )
        expect(page).toContain('guildhall_queue_depth{queue="key_use"} 1')
        expect(page).toContain('guildhall_queue_capacity{queue="key_use"} 16384')
        const audited = await operator.send('GET', '/audit?action=console.read')
        expect((audited.body as { entries: unknown[] }).entries).toEqual([])
      } finally {
        await node.stop()
        await dispose()
      }
    })
  },
)
