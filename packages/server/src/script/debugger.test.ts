import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSystemClock } from '../kernel/clock.ts'
import { type Harness, openHarness, startHarness } from './host.fixture.ts'
import { startReloading } from './reload/reload.fixture.ts'

const clock = createSystemClock()
const config = { inspect: '127.0.0.1:0', deadline_ms: 10, load_timeout_ms: 5_000 }
const inspectAt = { host: '127.0.0.1', port: 0 }

const game = (answer: string) => `guildhall.on_rpc('ask', (_ctx, body) => {
  const text = new TextDecoder().decode(body)
  return text + '${answer}'
})
guildhall.on_rpc('quick', () => 'quick')
`
const isOver = /the debugger is gone/
const breakpoint = { urlRegex: 'main\\.ts$', lineNumber: 1 }

/** Where the node says that debuggers attach. */
function addressOf({ log }: Pick<Harness, 'log'>): string {
  const line = log.lines.find(({ fields }) => fields?.inspect !== undefined)
  return String(line?.fields?.inspect)
}

/** What an editor does: asks who is there, attaches, and waits for breakpoints. */
async function attach(address: string) {
  const answer = await fetch(`http://${address}/json/list`)
  const [{ webSocketDebuggerUrl: url }] = (await answer.json()) as [
    { webSocketDebuggerUrl: string },
  ]
  const socket = new WebSocket(url)
  const events: { method: string; params: { callFrames: { callFrameId: string }[] } }[] = []
  const answers = new Map<number, (result: unknown) => void>()
  let id = 0
  let isOpen = true
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data))
    if ('id' in message) answers.get(message.id)?.(message.result)
    else events.push(message)
  })
  socket.addEventListener('close', () => (isOpen = false))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  onTestFinished(() => socket.close())

  function ask(method: string, params: object = {}): Promise<unknown> {
    id += 1
    socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => answers.set(id, resolve))
  }

  await ask('Debugger.enable')
  return {
    url,
    ask,
    close: () => socket.close(),
    isOpen: () => isOpen,
    pauses: () => events.filter(({ method }) => method === 'Debugger.paused'),
  }
}

/** An engine that starts has no inspector yet. */
async function untilAttached<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch {
      await clock.sleep(20)
    }
  }
}

describe('runtime.inspect', () => {
  it('[O-STA-3] is named where its address is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { host } = openHarness({ config, inspectAt: { ...inspectAt, port } })
    await expect(host.start()).rejects.toMatchObject({
      message: 'runtime.inspect cannot be used',
      cause: { code: 'EADDRINUSE' },
    })
  })

  it('[S-DBG-1] holds a handler at a breakpoint for as long as it likes', async () => {
    const harness = await startHarness({ files: { 'main.ts': game('!') }, config, inspectAt })
    const debug = await attach(addressOf(harness))
    await debug.ask('Debugger.setBreakpointByUrl', breakpoint)
    const asked = harness.rpc('ask', 'held')
    await harness.until(() => debug.pauses().length === 1)
    const callFrameId = debug.pauses()[0]?.params.callFrames[0]?.callFrameId
    // More than the deadline and what is left to a worker behind it.
    const fromMs = clock.monotonicMs()
    while (clock.monotonicMs() - fromMs < 1_500) {
      await debug.ask('Debugger.evaluateOnCallFrame', { callFrameId, expression: '1' })
    }
    await debug.ask('Debugger.resume')
    expect(await asked).toBe('held!')
    expect(harness.host.describe().readiness.generation).toBe(1)
    const warned = harness.lines('warn').map(({ message }) => message)
    expect(warned.join('\n')).toContain('deadlines and bounds of the script rest')
  })

  it('[S-DBG-1] bounds calls again when the debugger has gone, also while it held one', async () => {
    const loop = `${game('!')}guildhall.on_rpc('loop', () => { for (;;) {} })`
    const harness = await startHarness({ files: { 'main.ts': loop }, config, inspectAt })
    const debug = await attach(addressOf(harness))
    await debug.ask('Debugger.setBreakpointByUrl', breakpoint)
    const asked = harness.rpc('ask', 'held')
    await harness.until(() => debug.pauses().length === 1)
    debug.close()
    expect(await asked).toBe('held!')
    await harness.until(() => harness.lines('info').some(({ message }) => isOver.test(message)))
    expect(await harness.rpc('loop')).toEqual({ error: 'RPC handler timed out' })
  })

  it('[S-DBG-1] [S-LIM-2] ends a worker whose slice runs on when the debugger has gone', async () => {
    const loop = `${game('!')}guildhall.on_rpc('loop', () => { for (;;) {} })`
    const harness = await startHarness({ files: { 'main.ts': loop }, config, inspectAt })
    const debug = await attach(addressOf(harness))
    const looping = harness.rpc('loop')
    await debug.ask('Debugger.pause')
    await harness.until(() => debug.pauses().length === 1)
    debug.close()
    expect(await looping).toEqual({ error: 'RPC runtime not available' })
    await harness.until(() => harness.host.describe().readiness.generation === 2)
    expect(await harness.rpc('quick')).toBe('quick')
  })

  it('[S-DBG-1] [S-REL-4] leads to the next revision where it led to the last', async () => {
    const reloading = await startReloading({ files: { 'main.ts': game('1') }, config, inspectAt })
    const address = addressOf(reloading)
    const first = await attach(address)
    await first.ask('Debugger.setBreakpointByUrl', breakpoint)
    const held = reloading.rpc('ask', 'held')
    await reloading.until(() => first.pauses().length === 1)
    reloading.save('main.ts', game('2'))
    await reloading.seen(2)
    expect(await held).toBe('held1')
    await reloading.until(() => !first.isOpen())
    const second = await attach(address)
    expect(second.url).not.toBe(first.url)
    await second.ask('Debugger.setBreakpointByUrl', breakpoint)
    const asked = reloading.rpc('ask', 'again')
    await reloading.until(() => second.pauses().length === 1)
    await second.ask('Debugger.resume')
    expect(await asked).toBe('again2')
  })

  it('[S-DBG-1] refuses what asks for nothing, and names of other machines', async () => {
    const harness = await startHarness({ files: { 'main.ts': game('!') }, config, inspectAt })
    const address = addressOf(harness)
    const headers = { host: 'evil.example.com' }
    const { request } = await import('node:http')
    const status = await new Promise((resolve, reject) => {
      const asked = request(`http://${address}/json/list`, { headers }, (answer) => {
        resolve(answer.statusCode)
      })
      asked.on('error', reject).end()
    })
    expect(status).toBe(400)
    await expect(fetch(`http://${address}/${'x'.repeat(20_000)}`)).rejects.toThrow()
    expect(await harness.rpc('quick')).toBe('quick')
  })

  it('[S-DBG-1] is not there unless it is asked for, and listens on loopback alone', async () => {
    const files = {
      'main.ts': `import { url } from 'node:inspector'
        guildhall.on_rpc('url', () => url() ?? 'none')`,
    }
    const plain = await startHarness({ files })
    expect(await plain.rpc('url')).toBe('none')
    expect(plain.log.lines.filter(({ fields }) => fields?.inspect !== undefined)).toEqual([])
    const inspected = await startHarness({ files, config, inspectAt })
    expect(await inspected.rpc('url')).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\//)
    expect(addressOf(inspected)).toMatch(/^127\.0\.0\.1:\d+$/)
  })

  it('[S-DBG-1] gives a top level as long as its debugger likes', async () => {
    const waits = `while (!('go' in globalThis)) await new Promise((next) => setTimeout(next, 10))`
    const harness = openHarness({
      files: { 'main.ts': `${waits}\n${game('!')}` },
      config: { ...config, load_timeout_ms: 1_500 },
      inspectAt,
    })
    const started = harness.host.start()
    started.catch(() => {})
    await harness.until(() => harness.lines('warn').length > 0)
    const debug = await untilAttached(() => attach(addressOf(harness)))
    await clock.sleep(2_000)
    await debug.ask('Runtime.evaluate', { expression: 'globalThis.go = true' })
    await started
    expect(await harness.rpc('ask', 'loaded')).toBe('loaded!')
  })

  it('[S-DBG-1] looks at the memory again when the debugger has gone', async () => {
    const keeps = `const kept: Uint8Array[] = []
      guildhall.on_rpc('keep', () => String(kept.push(new Uint8Array(120 * 2 ** 20))))`
    const harness = await startHarness({ files: { 'main.ts': keeps }, config, inspectAt })
    const debug = await attach(addressOf(harness))
    expect(await harness.rpc('keep')).toBe('1')
    // Several looks of the watchdog, and of calls as they end.
    await clock.sleep(300)
    expect(harness.host.describe().readiness.generation).toBe(1)
    debug.close()
    await harness.until(() => harness.host.describe().readiness.generation === 2)
  })

  it('[S-DBG-1] refuses to start for a script that has no inspector', async () => {
    const files = { 'main.lua': 'guildhall.on_rpc("a", function() end)' }
    const start = startHarness({ files, config, inspectAt })
    await expect(start).rejects.toThrow('runtime.inspect is for TypeScript and JavaScript')
  })
})
