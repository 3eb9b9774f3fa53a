/**
 * An Argon2id verifier in PHC form: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. It holds all
 * that is needed to check a password, and nothing from which the password can be read.
 */
export type Phc = Argon2Params & {
  /** Always 19 (0x13), Argon2 version 1.3. */
  version: number
  salt: Buffer
  hash: Buffer
}

/** The cost of a verifier: memory in KiB, passes over it, lanes. */
export type Argon2Params = { memory_kib: number; iterations: number; parallelism: number }

/**
 * Reads a PHC string; undefined unless it is Argon2id version 1.3 with the parameters in their
 * standard order, within the bounds of RFC 9106, a salt of at least 8 and a hash of at least 16
 * bytes. The bounds also keep a hostile string from asking for memory without end.
 */
export function parsePhc(text: string): Phc | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, memory = '', passes = '', lanes = '', saltText = '', hashText = ''] = match
  const params = {
    memory_kib: Number(memory),
    iterations: Number(passes),
    parallelism: Number(lanes),
  }
  const salt = parseBase64(saltText)
  const hash = parseBase64(hashText)
  if (!salt || !hash || !withinBounds(params)) return undefined
  if (salt.length < 8 || salt.length > 64 || hash.length < 16 || hash.length > 128) return undefined
  return { version: 19, ...params, salt, hash }
}

/** Whether a verifier cost less than `params` ask for, in any respect, and should be replaced. */
export function isWeaker(phc: Phc, params: Argon2Params): boolean {
  return (
    phc.memory_kib < params.memory_kib ||
    phc.iterations < params.iterations ||
    phc.parallelism < params.parallelism ||
    phc.salt.length < 16 ||
    phc.hash.length < 32
  )
}

const number = '([1-9][0-9]{0,9})'
const base64 = '([A-Za-z0-9+/]{1,256})'
const pattern = new RegExp(
  `^\\$argon2id\\$v=19\\$m=${number},t=${number},p=${number}\\$${base64}\\$${base64}$`,
)

/** Four GiB: more than any verifier of this product may cost, and a bound for everyone's. */
const memoryKibMax = 4_194_304

function withinBounds({ memory_kib, iterations, parallelism }: Argon2Params): boolean {
  return (
    memory_kib >= 8 * parallelism &&
    memory_kib <= memoryKibMax &&
    iterations <= 1_000 &&
    parallelism <= 255
  )
}

/** Standard base64 without padding, as PHC strings have it; undefined when it is not canonical. */
function parseBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64').replace(/=+$/, '') === text ? bytes : undefined
}
