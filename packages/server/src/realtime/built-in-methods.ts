/** Methods that start so are the service's own; a script cannot register them. */
const families = ['matchmaker.', 'party.', 'rooms.'] as const

export function isBuiltIn(method: string): boolean {
  return families.some((family) => method.startsWith(family))
}
