import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { browserForTests } from '../../packages/dashboard/src/testing/browser.ts'
import { createSystemClock } from '../../packages/server/src/kernel/clock.ts'
import { startQuic } from '../../packages/server/src/realtime/connection/transports/quic/quic.fixture.ts'
import { bytesOf, textOf, waiting } from '../../packages/server/src/realtime/realtime.fixture.ts'

const browser = await browserForTests()
afterAll(() => browser?.close())

test.skipIf(browser === undefined)(
  '[R-QU-6, R-TLS-2] a browser plays by streams and datagrams, and sees the close',
  async () => {
    // Browsers hold a certificate against the real time.
    const node = await startQuic({ quic: { clock: createSystemClock() } })
    node.realtime.script.kinds.add(100)
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html>')
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const page = await browser?.newPage()
    if (page === undefined) throw new Error('no page')
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    const hash = node.realtime.transports.states().webtransport?.certificate_sha256
    const played = page.evaluate(playInPage, { port: node.port, hash: hash ?? '' })
    await expect.poll(messages, waiting).toHaveLength(2)
    expect(messages().sort()).toEqual(['by datagram', 'by stream'])
    node.realtime.gateway.send({
      kind: 100,
      body: bytesOf('unreliable'),
      unreliable: true,
      participants: [1],
    })
    await expect
      .poll(async () => {
        await node.realtime.clock.advance(10)
        return page.evaluate('globalThis.gotDatagram')
      }, waiting)
      .toBe(true)
    node.realtime.gateway.closeSessions(['s-ann'])
    expect(await played).toEqual({
      result: 6,
      datagram: 'unreliable',
      closed: { closeCode: 4004, reason: 'session revoked' },
    })
    site.close()
    await node.close()

    function messages(): string[] {
      const { calls } = node.realtime.script
      return calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
    }
  },
)

/** What a page has of WebTransport, as far as this one uses it. */
declare const WebTransport: new (
  url: string,
  options: { serverCertificateHashes: { algorithm: string; value: Uint8Array }[] },
) => {
  ready: Promise<void>
  closed: Promise<{ closeCode: number; reason: string }>
  createUnidirectionalStream(): Promise<WritableStream<Uint8Array>>
  incomingUnidirectionalStreams: ReadableStream<ReadableStream<Uint8Array>>
  datagrams: { readable: ReadableStream<Uint8Array>; writable: WritableStream<Uint8Array> }
}

/** Runs in the page: connects, sends AUTH and two messages, and waits for the end. */
async function playInPage({ port, hash }: { port: number; hash: string }) {
  const value = Uint8Array.from(atob(hash), (char) => char.charCodeAt(0))
  const session = new WebTransport(`https://127.0.0.1:${port}/v1/realtime`, {
    serverCertificateHashes: [{ algorithm: 'sha-256', value }],
  })
  await session.ready
  const envelope = (kind: number, text: string) => {
    const body = new TextEncoder().encode(text)
    return Uint8Array.from([kind >> 8, kind & 255, ...body])
  }
  const frame = (kind: number, text: string) => {
    const bytes = envelope(kind, text)
    return Uint8Array.from([0, 0, 0, bytes.length, ...bytes])
  }
  const stream = await session.createUnidirectionalStream()
  const writer = stream.getWriter()
  await writer.write(frame(5, 't-ann'))
  const incoming = await session.incomingUnidirectionalStreams.getReader().read()
  const first = await incoming.value?.getReader().read()
  await writer.write(frame(100, 'by stream'))
  const datagrams = session.datagrams.writable.getWriter()
  await datagrams.write(envelope(100, 'by datagram'))
  const datagram = await session.datagrams.readable.getReader().read()
  Object.assign(globalThis, { gotDatagram: true })
  const { closeCode, reason } = await session.closed
  return {
    result: first?.value?.[5],
    datagram: new TextDecoder().decode(datagram.value?.subarray(2)),
    closed: { closeCode, reason },
  }
}
