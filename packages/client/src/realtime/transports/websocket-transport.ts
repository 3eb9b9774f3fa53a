import { GuildhallError, invalidArgument } from '../../error.ts'
import type { OpenLink } from './transport.ts'

/** Links over WebSocket. Datagrams do not exist there: everything is a message. */
export function websocketTransport(Socket: typeof WebSocket | undefined): OpenLink {
  return ({ url }, events) => {
    if (Socket === undefined) throw new GuildhallError('network_error', 'no WebSocket here')
    const socket = openSocket(Socket, url)
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('open', () => events.opened())
    socket.addEventListener('message', ({ data }: { data: unknown }) => {
      // The server has no text messages; what it is, it is no frame.
      if (data instanceof ArrayBuffer) events.received(new Uint8Array(data))
      else socket.close(4003, 'protocol error: text message')
    })
    socket.addEventListener('close', ({ code, reason }) => events.ended({ code, reason }))
    return {
      send: (bytes) => socket.send(bytes as Uint8Array<ArrayBuffer>),
      sendDatagram: () => false,
      bufferedBytes: () => socket.bufferedAmount,
      close: (code, reason) => socket.close(code, reason),
    }
  }
}

function openSocket(Socket: typeof WebSocket, url: string): WebSocket {
  try {
    return new Socket(url)
  } catch (cause) {
    throw invalidArgument('url is none of a WebSocket', cause)
  }
}
