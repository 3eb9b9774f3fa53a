/** Members at these places are noted in one number, the others one by one. */
const bitsMax = 32
/** More of the others than these are not noted. */
const touchedMax = 32

/** Stands among the values of a part where a number is kept. */
export const numeric = Symbol('numeric')

/**
 * An object or array of a value that follows, from whoever keeps it: it notes which members have
 * changed, so that a comparison goes to those alone.
 */
export class StatePart {
  /** Of an object, in its order; undefined for an array. */
  names: readonly string[] | undefined
  /** Scalars, parts, and objects that never change; `numeric` where `numbers` has the member. */
  values: unknown[]
  /**
   * The members of an object that are numbers, NaN in the place of the others. Together they are
   * few bytes and need no objects: with many rooms the time goes into fetching memory.
   */
  numbers: number[] | undefined
  /** Which of the first places have changed, or have something below them that has. */
  touchedBits = 0
  /** The other places that have: so many. */
  touched: number[] | undefined
  touchedLength = 0
  /** Any of them may have changed, come or gone. */
  isTouched = true

  constructor(names: readonly string[] | undefined, values: unknown[]) {
    this.names = names
    this.values = values
    this.numbers = undefined
  }

  /** What stands at a place. */
  at(place: number): unknown {
    const value = this.values[place]
    return value === numeric ? this.numbers?.[place] : value
  }

  /** What stands at all of them. */
  all(): readonly unknown[] {
    return this.numbers === undefined ? this.values : this.values.map((_, place) => this.at(place))
  }

  touch(place: number): void {
    if (place < bitsMax) {
      this.touchedBits |= 1 << place
      return
    }
    this.touched ??= []
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
    this.touchedBits = 0
    this.touchedLength = 0
    this.isTouched = false
  }
}
