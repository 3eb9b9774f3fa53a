/** The last resort for an error that no listener takes. */
export function reportToConsole(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: a listener's error would be lost otherwise.
  console.error(error)
}
