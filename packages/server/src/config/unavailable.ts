/** Settings of the schema that this version cannot honour: they refuse the start. */
export const unavailable: readonly Unavailable[] = [
  { key: 'lag_diagnostics.enabled', values: [true] },
]

type Unavailable = { key: string; values: readonly unknown[] }

/**
 * What the keys begin with that belong to features which this version does not have: they are
 * checked, and nothing reads them.
 */
const withoutEffect: readonly string[] = ['lag_diagnostics.']

/** Keys that begin so and have an effect already. */
const withEffect: readonly string[] = ['lag_diagnostics.server_time_offer']

/** Whether a key changes nothing. What switches a missing feature off says the truth, and does. */
export function hasNoEffect(key: string): boolean {
  const isSwitch = unavailable.some((entry) => entry.key === key)
  if (isSwitch || withEffect.includes(key)) return false
  return withoutEffect.some((beginning) => key.startsWith(beginning))
}

export function isUnavailable(key: string, value: unknown): boolean {
  return unavailable.some((entry) => entry.key === key && entry.values.includes(value))
}
