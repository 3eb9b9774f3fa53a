import { vi } from 'vitest'

/**
 * Loaded by every test file: `vi.waitFor` waits for as long as `expect.poll` does. Its own limit is
 * a second, in which a loaded machine may do nothing at all.
 */
const patienceMs = 30_000

const waitFor = vi.waitFor

// Files share their process, so that an earlier one may have set it already.
if (waitFor.name !== 'patient') {
  vi.waitFor = function patient(callback, options = {}) {
    const { timeout = patienceMs, ...rest } =
      typeof options === 'number' ? { timeout: options } : options
    return waitFor(callback, { ...rest, timeout })
  }
}
