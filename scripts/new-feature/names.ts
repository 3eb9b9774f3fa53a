/** How one feature is called at each place. */
export type FeatureNames = {
  /** `daily-gifts`, of its folder and files. */
  readonly kebab: string
  /** `dailyGifts`, of its section and its functions. */
  readonly camel: string
  /** `DailyGifts`, of its types. */
  readonly pascal: string
  /** `daily_gifts`, of its table and its audit actions. */
  readonly snake: string
}

/** Undefined for what is no name of a feature. */
export function namesOf(kebab: string): FeatureNames | undefined {
  if (!/^[a-z]+(?:-[a-z]+)*$/.test(kebab) || kebab.length > 40) return undefined
  const camel = kebab.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const pascal = `${camel.charAt(0).toUpperCase()}${camel.slice(1)}`
  return { kebab, camel, pascal, snake: kebab.replaceAll('-', '_') }
}
