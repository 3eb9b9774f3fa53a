import { kinds, rpcRequestBody, rpcResponseBody } from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { openConnected, settle } from '../../testing/connected.ts'
import type { Peer } from '../../testing/fake-server.ts'

const code = (name: string) => expect.objectContaining({ code: name })

async function nextCall(peer: Peer) {
  const { body } = await peer.nextOf(kinds.RPC_REQUEST.first)
  const request = rpcRequestBody.decode(body)
  return {
    ...request,
    text: new TextDecoder().decode(request.payload),
    answer(reply: string, ok = true) {
      const payload = new TextEncoder().encode(reply)
      const response = { request_id: request.request_id, ok, payload }
      peer.send(kinds.RPC_RESPONSE.first, rpcResponseBody.encode(response))
    },
  }
}

it('[R-SDK-16] calls are answered in any order, in the form that was asked for', async () => {
  const { connection, peer } = await openConnected()
  const calls = [
    connection.rpc('a', { x: 1 }),
    connection.rpc('b', undefined, { as: 'text' }),
    connection.rpc('c', 'text', { as: 'bytes' }),
    connection.rpc('d'),
  ]
  const requests = [await nextCall(peer), await nextCall(peer), await nextCall(peer)]
  expect(requests.map(({ method, text }) => [method, text])).toEqual([
    ['a', '{"x":1}'],
    ['b', ''],
    ['c', 'text'],
  ])
  ;(await nextCall(peer)).answer('')
  for (const request of requests.reverse()) request.answer('{"y":2}')
  expect(await Promise.all(calls)).toEqual([
    { y: 2 },
    '{"y":2}',
    new TextEncoder().encode('{"y":2}'),
    undefined,
  ])
})

it('[R-SDK-2] [R-SDK-16] a refusal has its text, a broken reply is malformed_reply', async () => {
  const { connection, peer } = await openConnected()
  const refused = expect(connection.rpc('a')).rejects.toMatchObject({
    code: 'rpc_refused',
    message: 'unknown RPC method',
  })
  ;(await nextCall(peer)).answer('unknown RPC method', false)
  await refused
  const broken = expect(connection.rpc('b')).rejects.toMatchObject({
    code: 'malformed_reply',
    message: expect.stringContaining("as: 'text'"),
  })
  ;(await nextCall(peer)).answer('{')
  await broken
})

it('[R-SDK-16] a time-out counts from the call, an abort ends the waiting at once', async () => {
  const { connection, peer, host } = await openConnected()
  const late = expect(connection.rpc('a')).rejects.toEqual(code('timeout'))
  host.advance(14_999)
  const abort = new AbortController()
  const aborted = connection.rpc('b', undefined, { signal: abort.signal })
  abort.abort('enough')
  await expect(aborted).rejects.toMatchObject({ code: 'aborted', cause: 'enough' })
  host.advance(1)
  await late
  // A reply that comes too late hurts nobody.
  ;(await nextCall(peer)).answer('{}')
  await settle()
  await expect(connection.rpc('c', 1, { signal: abort.signal })).rejects.toEqual(code('aborted'))
  await expect(connection.rpc('d', 1, { signal: AbortSignal.abort() })).rejects.toEqual(
    code('aborted'),
  )
})

it('[R-SDK-15] 32 calls are unanswered at most; further ones go out with the answers', async () => {
  const { connection, peer, host } = await openConnected()
  const settled: number[] = []
  const calls = Array.from({ length: 34 }, (_, index) =>
    connection.rpc(`m${index}`, undefined, { timeoutMs: 60_000 }).then(() => settled.push(index)),
  )
  const abandoned = connection.rpc('abandoned', undefined, { timeoutMs: 100 })
  const gone = expect(abandoned).rejects.toEqual(code('timeout'))
  host.advance(100)
  await gone
  const first = await nextCall(peer)
  const rest = []
  for (let seen = 1; seen < 32; seen += 1) rest.push(await nextCall(peer))
  let isMore = false
  const more = nextCall(peer).then((call) => {
    isMore = true
    return call
  })
  await settle()
  expect(isMore).toBe(false)
  first.answer('1')
  const next = await more
  expect(next.method).toBe('m32')
  next.answer('1')
  ;(await nextCall(peer)).answer('1')
  for (const call of rest) call.answer('1')
  await Promise.all(calls)
  expect(settled).toHaveLength(34)
})

it('[R-SDK-15] behind 256 waiting calls one more is queue_full', async () => {
  const { connection } = await openConnected()
  const calls = Array.from({ length: 288 }, () => connection.rpc('m').catch(() => {}))
  await expect(connection.rpc('one more')).rejects.toEqual(code('queue_full'))
  await connection.close()
  await Promise.all(calls)
})

it('[R-SDK-11] a sent call is lost with its link and not repeated; a waiting one goes out', async () => {
  const { connection, peer, host, server } = await openConnected()
  const sent = expect(connection.rpc('sent')).rejects.toEqual(code('connection_lost'))
  await nextCall(peer)
  peer.cut()
  await sent
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  const waited = connection.rpc('waited')
  host.advance(250)
  const call = await nextCall(await server.connection())
  expect(call.method).toBe('waited')
  call.answer('true')
  expect(await waited).toBe(true)
})

it('[R-SDK-2] waiting calls reject with closed when the connection has ended for good', async () => {
  const { connection, peer, host, server } = await openConnected()
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  const waiting = expect(connection.rpc('waiting')).rejects.toEqual(code('closed'))
  server.greet = (next) => next.close(4004)
  host.advance(250)
  await waiting
})
