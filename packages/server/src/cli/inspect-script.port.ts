import type { LoadedConfig } from '../config/load.ts'

/**
 * `script` is what to call it, e.g. `main.ts` or `none`; `problem` says why it cannot be loaded.
 */
export type InspectScript = (
  loaded: LoadedConfig,
) => Promise<{ script: string } | { problem: string }>
