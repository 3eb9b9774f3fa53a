import { type Role, roles } from '@guildhall/contract'
import type { Operator } from '../key.ts'
import { type Fault, quoted } from '../problem.ts'
import { password as passwordFormat, shortText } from './formats.ts'

/** Reads the file of a secret, or says what is wrong with it. */
export type SecretReader = (path: unknown) => { text: string } | { fault: Fault }

/** Reads the entries of `console.operators`; a fault, without any password, when one is wrong. */
export function readOperators(
  list: readonly unknown[],
  secretOf: SecretReader,
): Operator[] | Fault {
  const operators: Operator[] = []
  const names = new Set<string>()
  for (const [position, entry] of list.entries()) {
    const operator = readOperator(entry, secretOf)
    const fault = (wrong: string): Fault => ({ wrong: `entry ${position + 1} ${wrong}`, allowed })
    if (typeof operator === 'string') return fault(operator)
    if (names.has(operator.username)) return fault(`repeats the name ${quoted(operator.username)}`)
    names.add(operator.username)
    operators.push(operator)
  }
  return operators
}

export const operatorShape =
  'username (1 to 128 bytes of text), password (1 to 1024 bytes of text, or a line that ' +
  '`guildhall hash-password` printed) or password_file, and role (admin or viewer)'

const allowed = `tables of ${operatorShape}; each name once`

const members = new Set(['username', 'password', 'password_file', 'role'])

/** Answers with the operator, or with what is wrong with the entry. */
function readOperator(entry: unknown, secretOf: SecretReader): Operator | string {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return 'is not a table'
  const given = new Map<string, unknown>(Object.entries(entry))
  const stranger = [...given.keys()].find((name) => !members.has(name))
  if (stranger !== undefined) return `has an unknown member ${quoted(stranger)}`
  const username = given.get('username')
  const role = given.get('role')
  if (typeof username !== 'string' || !isName(username)) return 'has no usable username'
  if (!isRole(role)) return 'has no usable role'
  if (given.has('password') === given.has('password_file')) {
    return 'needs one of password and password_file'
  }
  const read = given.has('password')
    ? { text: given.get('password') }
    : secretOf(given.get('password_file'))
  if ('fault' in read) return `has an unusable password_file: ${read.fault.wrong}`
  const { text } = read
  if (typeof text !== 'string' || !passwordFormat.accepts(text)) return 'has no usable password'
  return { username, password: text, role }
}

/** Whether an entry has its password in it, and not in a file of its own. */
export function holdsPassword(list: unknown): boolean {
  if (!Array.isArray(list)) return false
  return list.some((entry) => typeof entry === 'object' && entry !== null && 'password' in entry)
}

/** A name that can be typed at the login, and that stands in the audit trail as it is. */
function isName(text: string): boolean {
  return shortText.accepts(text) && !/\p{Cc}/u.test(text)
}

function isRole(value: unknown): value is Role {
  return roles.some((role) => role === value)
}
