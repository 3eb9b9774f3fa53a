import { expect, it, onTestFinished, vi } from 'vitest'
import { openHarness } from '../host.fixture.ts'

it('[S-WP-4] a script process of another build than the node fails at its load, and says why', async () => {
  // The process is built, and knows of what.
  vi.stubGlobal('protocolOfBuild', 'another')
  onTestFinished(() => void vi.unstubAllGlobals())
  const { host } = openHarness({ files: { 'main.js': "guildhall.on_rpc('x', () => 'x')" } })
  await expect(host.start()).rejects.toThrow('start the node again')
})
