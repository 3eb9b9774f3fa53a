import { Status } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { QuicClient } from '../../realtime/connection/transports/quic/quic-client.fixture.ts'
import { createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'

it('[R-TR-1, R-TR-3, O-STA-3] QUIC that was asked for serves when the ready line is out', async () => {
  const node = await startNodeProcess({
    'transport.quic.enabled': 'true',
    'transport.quic.bind': '127.0.0.1:0',
  })
  const [, port] = / quic=127\.0\.0\.1:(\d+) /.exec(node.output()) ?? []
  const { transports, metrics } = Status().parse(
    (await createCaller(node.url)('GET', '/status')).body,
  )
  expect(transports.quic).toEqual({
    enabled: true,
    available: true,
    bind: `127.0.0.1:${port}`,
  })
  expect(transports.webtransport?.certificate_sha256).toMatch(/^[\w+/]{43}=$/)
  expect(metrics.quic_engine_restarts_total).toBe(0)
  const client = await QuicClient.connect(Number(port))
  client.send(5)
  expect((await client.next()).kind).toBe(6)
  expect(await node.stop()).toBe(0)
  expect(await client.closed()).toEqual({ code: 1001, reason: 'shutdown' })
  client.vanish()
})
