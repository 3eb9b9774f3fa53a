import { expect, it, vi } from 'vitest'
import { openHarness } from '../host.fixture.ts'

// The process of the script is built, and knows what it was built of.
vi.hoisted(() => Object.assign(globalThis, { protocolOfBuild: 'another' }))

it('[S-WP-4] a script process of another build than the node fails at its load, and says why', async () => {
  const { host } = openHarness({ files: { 'main.js': "guildhall.on_rpc('x', () => 'x')" } })
  await expect(host.start()).rejects.toThrow('start the node again')
})
