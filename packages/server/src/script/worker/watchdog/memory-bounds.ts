const mebibyte = 1_048_576

/** For the host's own code and the messages on their way through. */
const slackMb = 32

/**
 * What a process needs besides: two engines, their code, the young generation, and buffers that
 * have yet to be collected.
 */
const processMb = 256

/** How much a script may keep, with what its host itself keeps in the same heap. */
export function memoryBytesMax(memoryMb: number): number {
  return (memoryMb + slackMb) * mebibyte
}

/**
 * How much the process may occupy at any moment. What is kept is looked at when a slice has ended;
 * this holds while one computes.
 */
export function residentBytesMax(memoryMb: number): number {
  return (memoryMb * 2 + processMb) * mebibyte
}
