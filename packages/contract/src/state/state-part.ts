/** More members than these are not noted one by one. */
const touchedMax = 32

/**
 * An object or array of a value that follows, from whoever keeps it: it notes which members have
 * changed, so that a comparison goes to those alone.
 */
export class StatePart {
  /** Of an object, in its order; undefined for an array. */
  names: readonly string[] | undefined
  /** Scalars, parts, and objects that never change. */
  values: unknown[]
  /** The places of members that have changed, or have something below them that has: so many. */
  readonly touched: number[] = []
  touchedLength = 0
  /** Any of them may have changed, come or gone. */
  isTouched = true

  constructor(names: readonly string[] | undefined, values: unknown[]) {
    this.names = names
    this.values = values
  }

  touch(place: number): void {
    const { touched, touchedLength } = this
    if (this.isTouched || (touchedLength > 0 && touched[touchedLength - 1] === place)) return
    if (touchedLength === touchedMax) {
      this.isTouched = true
      return
    }
    touched[touchedLength] = place
    this.touchedLength = touchedLength + 1
  }

  /** Those who follow know it as it is. */
  untouch(): void {
    this.touchedLength = 0
    this.isTouched = false
  }
}
