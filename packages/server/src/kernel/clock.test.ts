import { MessageChannel } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { afterOthers } from './clock.ts'

it('lets what has arrived go first, also from within what arrived before it', async () => {
  const { port1, port2 } = new MessageChannel()
  const order: string[] = []
  await new Promise<void>((resolve) => {
    port2.on('message', (message: string) => {
      order.push(message)
      if (message !== 'first') return
      void afterOthers().then(() => {
        order.push('the others were served')
        resolve()
      })
      // Arrives in the next turn, since the messages of this one were counted already.
      setImmediate(() => port1.postMessage('second'))
    })
    port1.postMessage('first')
  })
  port1.close()
  expect(order).toEqual(['first', 'second', 'the others were served'])
})
