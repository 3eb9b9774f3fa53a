import { defineFeature, mount } from '../feature.ts'
import { apiKeysCheck } from './api-keys.checks.store.ts'
import { createKeyUse } from './api-keys.jobs.ts'
import { apiKeyHandlers } from './api-keys.routes.ts'
import { type ApiKeysDeps, createApiKeys } from './api-keys.service.ts'

const keyUseIntervalMs = 5000

/** Machine credentials, and when they were last used. */
export function apiKeysFeature(deps: Omit<ApiKeysDeps, 'flushUse'>) {
  const { flush, note, backlog } = createKeyUse(deps)
  const keys = createApiKeys({ ...deps, flushUse: flush })
  return defineFeature(
    {
      routes: mount({ apiKeys: apiKeyHandlers(keys) }),
      tasks: [{ name: 'key-use', intervalMs: keyUseIntervalMs, run: flush, needsDatabase: true }],
      counters: () => ({ key_use_dropped_total: backlog().dropped }),
      backlogs: () => [backlog()],
      checks: [apiKeysCheck],
      crash: { api_keys: 'api-keys' },
      stop: flush,
    },
    { verify: keys.verify, noteUse: note },
  )
}
