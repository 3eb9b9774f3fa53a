/** Thrown for an address that the system does not give; its cause says why. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

/**
 * What a failed listener throws, with the key that its address came from.
 *
 * @throws AddressRefused where the system has refused, and what was thrown otherwise
 */
export function addressRefused(key: string): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause
    throw new AddressRefused(`${key} cannot be used`, { cause })
  }
}
