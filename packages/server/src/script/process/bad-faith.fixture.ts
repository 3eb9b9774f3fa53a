/** What a script in bad faith does with the channel of its process. */
export const ofChannel = `
  import { deserialize, serialize } from 'node:v8'
  const channel = () => process._getActiveHandles().find(({ _handle }) => _handle?.fd === 3)
  const post = (message: unknown) => {
    const body = serialize(message)
    const head = Buffer.from(Uint32Array.from([body.length, 0]).buffer)
    channel().write(Buffer.concat([head, body]))
  }
`
