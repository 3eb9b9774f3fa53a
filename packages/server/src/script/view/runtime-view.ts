import type { ScriptConfig } from '../config.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { canonicalLanguage, type LanguageName } from '../process/languages.ts'
import type { ReadinessState } from '../readiness.ts'
import type { Handlers } from '../wire/hooks.ts'

/** The runtime as the console shows it. Every key is always present; what is unknown is null. */
export type RuntimeView = {
  enabled: boolean
  configured_language: LanguageName | null
  selected_language: LanguageName | null
  selection_source: 'explicit' | 'autodetected' | null
  entrypoint: string | null
  adapter: 'worker'
  tier: 'trusted' | 'sandboxed'
  attached: boolean
  tick_hz: number
  require_script: boolean
  readiness: {
    state: ReadinessState
    revision_id: string | null
    generation: number
    since_unix_millis: number
    recovery: { circuit_open: boolean; consecutive_failures: number; restart_limit: number }
  }
  script: ScriptView | null
}

type ScriptView = {
  source: string
  reloadable: boolean
  deadline_ms: number
  rpcs: string[]
  message_kinds: number[]
  hooks: string[]
}

export function describeRuntime(config: ScriptConfig, lifecycle: Lifecycle): RuntimeView {
  const { selection, handlers } = lifecycle
  const source = selection ? `${config.scripts_dir.replace(/\/+$/, '')}/${selection.file}` : null
  return {
    enabled: config.enabled,
    configured_language: canonicalLanguage(config.language),
    selected_language: selection?.language ?? null,
    selection_source: selection?.source ?? null,
    entrypoint: source,
    adapter: 'worker',
    tier: config.tier,
    attached: handlers !== undefined,
    tick_hz: config.tick_hz,
    require_script: config.require_script,
    readiness: {
      ...lifecycle.readiness(),
      revision_id: lifecycle.revision,
      generation: lifecycle.generation,
      recovery: lifecycle.recovery(),
    },
    script: source && handlers ? scriptView(config, source, handlers) : null,
  }
}

function scriptView(config: ScriptConfig, source: string, handlers: Handlers): ScriptView {
  return {
    source,
    reloadable: config.hot_reload,
    deadline_ms: config.deadline_ms,
    rpcs: [...handlers.rpcs],
    message_kinds: [...handlers.message_kinds],
    hooks: [...handlers.hooks],
  }
}
