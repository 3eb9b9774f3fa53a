import { describe, expect, it } from 'vitest'
import { createRecordedLog } from '../log/log.fake.ts'
import { type AccessLogConfig, createAccessLog } from './access-log.ts'

const request = {
  request_id: 'id-1',
  method: 'GET',
  route: '/v1/account',
  status: 200,
  duration_ms: 1.23456,
  with_key: false,
  client: '203.0.113.9',
}

function linesOf(config: AccessLogConfig, ...requests: Partial<typeof request>[]) {
  const log = createRecordedLog()
  const write = createAccessLog(config, log)
  for (const each of requests) {
    const answered = { ...request, ...each }
    write?.(answered, () => answered)
  }
  return log.lines.map(({ fields }) => fields)
}

describe('the access log', () => {
  it('[O-LOG-1] has a line per answer with its id, route, status, time and client', () => {
    const { with_key: _, ...shown } = request
    expect(linesOf({ access: 'all', client_addresses: 'full' }, {})).toEqual([
      { ...shown, duration_ms: 1.235 },
    ])
  })

  it('[O-LOG-1] is off, or has 5xx and 429 only', () => {
    expect(
      createAccessLog({ access: 'off', client_addresses: 'full' }, createRecordedLog()),
    ).toBeUndefined()
    const statuses = [200, 204, 304, 400, 401, 403, 404, 409, 429, 500, 503, 504].map((status) => ({
      status,
    }))
    const lines = linesOf({ access: 'errors', client_addresses: 'off' }, ...statuses)
    expect(lines.map(({ status }) => status)).toEqual([429, 500, 503, 504])
  })

  it.each([
    ['off', '203.0.113.9', undefined],
    ['truncated', '203.0.113.9', '203.0.113.0/24'],
    ['truncated', '2001:db8:1:2::1', '2001:db8:1::/48'],
    ['truncated', '', ''],
    ['full', '2001:db8:1:2::1', '2001:db8:1:2::1'],
  ] as const)(
    '[O-LOG-1] shows client addresses %s: %s as %s',
    (client_addresses, client, shown) => {
      const [line] = linesOf({ access: 'all', client_addresses }, { client })
      expect(line?.client).toBe(shown)
    },
  )
})
