/** The `runtime` section of the configuration, as far as the host reads it. */
export type ScriptConfig = {
  readonly enabled: boolean
  readonly require_script: boolean
  readonly language?: string | undefined
  readonly tier: 'trusted' | 'sandboxed'
  readonly scripts_dir: string
  readonly shared_dirs: readonly string[]
  readonly deadline_ms: number
  readonly call_timeout_ms: number
  readonly load_timeout_ms: number
  readonly tick_hz: number
  readonly tick_deadline_ms?: number | undefined
  readonly hot_reload: boolean
  readonly hot_reload_poll_ms: number
  readonly hand_over_ms: number
  readonly reload_drain_ms: number
  readonly memory_mb: number
  readonly inbox_calls: number
  readonly inbox_bytes: number
  readonly inspect?: string | undefined
  readonly restart_limit: number
  readonly restart_backoff_ms: number
  readonly restart_backoff_max_ms: number
}

/** Unset, a tick may use half of its period, at most 50 ms and at least 1 ms. */
export function tickDeadlineMs(config: Pick<ScriptConfig, 'tick_hz' | 'tick_deadline_ms'>): number {
  if (config.tick_deadline_ms !== undefined) return config.tick_deadline_ms
  return config.tick_hz === 0 ? 50 : Math.max(1, Math.min(50, Math.floor(500 / config.tick_hz)))
}
