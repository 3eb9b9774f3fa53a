/**
 * Maps and sets that keep working when the script changes `Map.prototype` or `Set.prototype`: their
 * methods are their own.
 */
export class HostMap<K, V> extends Map<K, V> {}
export class HostSet<T> extends Set<T> {}

keepMethods(Map.prototype, HostMap.prototype)
keepMethods(Set.prototype, HostSet.prototype)

function keepMethods(from: object, to: object): void {
  for (const name of Reflect.ownKeys(from)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(from, name)
    if (descriptor && name !== 'constructor') Reflect.defineProperty(to, name, descriptor)
  }
  Object.freeze(to)
}
