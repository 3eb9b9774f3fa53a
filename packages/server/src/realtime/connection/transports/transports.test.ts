import { describe, expect, test } from 'vitest'
import { StreamsTransport } from './streams-connection.fixture.ts'
import type { Transport } from './transport.ts'
import { joinTransports } from './transports.ts'

const pair = { certificate: 'chain', privateKey: 'key' }

describe('the transports of a node', () => {
  test('[R-TR-1] status and ready line show each that is in the list', async () => {
    const transports = joinTransports([new StreamsTransport(), transport('shared'), off('off')])
    expect(transports.states().memory).toEqual({
      enabled: true,
      available: false,
      bind: 'memory:1',
    })
    await transports.start('127.0.0.1:1')
    expect(Object.entries(transports.states()).map(([name, s]) => [name, s.available])).toEqual([
      ['memory', true],
      ['shared', true],
      ['off', false],
    ])
    expect(transports.addresses()).toEqual({ memory: 'memory:1', off: 'off' })
    await transports.close()
    expect(transports.states().memory?.available).toBe(false)
  })

  test('[R-TR-1] one that was asked for and cannot serve fails the start', async () => {
    const broken = { ...transport('broken'), start: () => Promise.reject(new Error('in use')) }
    await expect(joinTransports([broken]).start('127.0.0.1:1')).rejects.toThrow('in use')
  })

  test('[R-TR-2] without one that is on the node has no realtime', () => {
    expect(joinTransports([off('a'), off('b')]).attached).toBe(false)
    expect(joinTransports([off('a'), transport('b')]).attached).toBe(true)
  })

  test('[R-TLS-4] a certificate reaches those that use one', () => {
    const got: unknown[] = []
    const certified = { ...transport('tls'), setCertificate: (each: unknown) => got.push(each) }
    joinTransports([transport('plain'), certified]).setCertificate(pair)
    expect(got).toEqual([pair])
  })

  test('[R-MET-1] counters of all are those of one node', () => {
    const counting = { ...transport('counting'), metrics: () => ({ a_total: 2 }) }
    expect(joinTransports([new StreamsTransport(), counting]).metrics()).toEqual({
      memory_connections_total: 1,
      a_total: 2,
    })
  })
})

function transport(name: string): Transport {
  return {
    name,
    hasOwnSocket: false,
    start: async () => {},
    state: () => ({ enabled: true, available: true, bind: '127.0.0.1:1' }),
    close: async () => {},
  }
}

function off(name: string): Transport {
  const state = () => ({ enabled: false, available: false, bind: '127.0.0.1:2' })
  return { ...transport(name), hasOwnSocket: true, state }
}
