import { afterAll, expect, it } from 'vitest'
import { createWorkspace } from './load.fixture.ts'
import { configOfProcess, nodeIdsOf } from './processes.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())

const shared =
  'database.url = "postgres://db/game"\ncluster = { enabled = true }\n' +
  'server = { node_id = "game", processes = 3 }\n'

it('[O-NOD-5] numbers node ids, counts ports of metrics up, and shares the other addresses', async () => {
  const loaded = await workspace.load({ file: `${shared}errors.directory = "/journals"` })
  expect(nodeIdsOf(loaded.config.server)).toEqual(['game-1', 'game-2', 'game-3'])
  const binds = { http: '127.0.0.1:4000', quic: '127.0.0.1:4001' }
  const { config } = configOfProcess(loaded, 3, binds)
  expect(config.server).toMatchObject({ node_id: 'game-3', processes: 3 })
  expect(config.http.bind).toBe('127.0.0.1:4000')
  expect(config.transport.quic.bind).toBe('127.0.0.1:4001')
  expect(config.metrics.bind).toBe('127.0.0.1:9466')
  expect(config.errors.directory).toBe('/journals/game-3')
  expect(configOfProcess(loaded, 1, binds).config.metrics.bind).toBe('127.0.0.1:9464')
})

it('[O-NOD-5] leaves a port of metrics that the system chooses', async () => {
  const loaded = await workspace.load({ file: `${shared}metrics.bind = "127.0.0.1:0"` })
  const binds = { http: loaded.config.http.bind, quic: loaded.config.transport.quic.bind }
  expect(configOfProcess(loaded, 2, binds).config.metrics.bind).toBe('127.0.0.1:0')
})

it('[O-NOD-5] one process is the node that is configured', async () => {
  const { config } = await workspace.load({})
  expect(nodeIdsOf(config.server)).toEqual(['dev-1'])
})

const onMetrics = (bind: string) => `${shared}metrics = { enabled = true, bind = "${bind}" }`

it.each([
  ['server.processes = 2', 'nodes would not play together'],
  [shared.replace('"game"', `"${'x'.repeat(63)}"`), 'leaves no room for the number'],
  [onMetrics('127.0.0.1:65534'), 'is counted up to port 65536'],
  [onMetrics('127.0.0.1:7348'), 'with that of http.bind 127.0.0.1:7350 on the way'],
  [onMetrics('0.0.0.0:7349'), 'with that of http.bind 127.0.0.1:7350 on the way'],
  [`${shared}runtime.inspect = "127.0.0.1:9229"`, 'is one address for 3 processes'],
])('[O-VAL-6, O-NOD-5] refuses %s', async (file, wrong) => {
  const problems = await workspace.problems({ file })
  expect(problems.filter((line) => line.includes(wrong))).toHaveLength(1)
})

it.each([shared, onMetrics('127.0.0.1:65533'), onMetrics('127.0.0.1:7347')])(
  '[O-VAL-6, O-NOD-5] accepts %s',
  async (file) => expect(await workspace.problems({ file })).toEqual([]),
)

it('[O-NOD-5] is refused where processes cannot share a port', async () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {}
  Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' })
  try {
    const [problem] = await workspace.problems({ file: shared })
    expect(problem).toContain('server.processes (guildhall.toml line 3): processes cannot share')
  } finally {
    Object.defineProperty(process, 'platform', platform)
  }
})
