import { matchesApi, Status } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'

it('[R-TR-2, R-WS-1] with every transport off the node serves HTTP, and no player connects', async () => {
  const node = await startNodeProcess({
    'transport.websocket.enabled': 'false',
    'transport.quic.enabled': 'false',
  })
  const call = createCaller(node.url)
  const { transports } = Status().parse((await call('GET', '/status')).body)
  expect(transports).toMatchObject({
    websocket: { enabled: false, available: false },
    quic: { enabled: false, available: false },
    webtransport: { available: false },
  })
  expect((await fetch(`${node.url}/v1/realtime`)).status).toBe(404)
  const { send } = await openOperator({ call })
  const rooms = matchesApi.list.ok.parse((await send('GET', '/matches')).body)
  expect(rooms).toMatchObject({ realtime_attached: false, total: 0, matchmaker: null })
  expect(await node.stop()).toBe(0)
})
