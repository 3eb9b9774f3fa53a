import type { LoadedConfig } from '../../config/load.ts'
import type { ChainReport, VerifyOptions } from '../../features/audit/chain/verify.ts'
import type { Invocation } from '../arguments.ts'
import { visitDatabase, whyNotReadable } from '../database-visit.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

/** Verifies the hash chain of the audit trail and names the first place where it is broken. */
export async function auditVerify(
  loaded: LoadedConfig,
  { json, values }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const given = values.get('--expect')
  const expect = given === undefined ? undefined : linkOf(given)
  if (given !== undefined && expect === undefined) {
    return refuse(terminal, '--expect takes SEQ:HASH, a number and 64 hex digits')
  }
  const { database, logs } = loaded.config
  const reason = whyNotReadable(database.url, terminal.cwd)
  if (reason !== undefined) return refuse(terminal, reason)

  const { verifyChain } = await import('../../features/audit/chain/verify.ts')
  const options = { key: logs.audit_chain_key, ...(expect === undefined ? {} : { expect }) }
  const access = { terminal, access: 'read', refused: exitCodes.configuration } as const
  return visitDatabase(loaded, access, async ({ db }) => {
    const report = await db.longRead((state) => verifyChain(state, options))
    const ok = report.broken === undefined
    if (json) printJson(terminal.stdout, { ok, ...report })
    else printLines(terminal.stdout, linesOf(report, logs.audit_chain_key !== undefined))
    return ok ? exitCodes.ok : exitCodes.failure
  })
}

function linkOf(given: string): VerifyOptions['expect'] {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(given) ?? []
  if (seq === undefined || hash === undefined) return undefined
  return { seq: Number(seq), hash: Buffer.from(hash, 'hex') }
}

function linesOf(report: ChainReport, hasKey: boolean): string[] {
  const { rows, unchecked, unkeyed, anchor_seq, head_seq, head_hash, broken } = report
  const unverified =
    unchecked === 0
      ? []
      : [`the hashes of ${unchecked} rows were not checked: logs.audit_chain_key is not set`]
  const forgeable =
    hasKey && unkeyed > 0
      ? [`${unkeyed} rows were linked without the key: write access is enough to forge such`]
      : []
  const verdict =
    broken === undefined
      ? `ok: ${rows} rows after seq ${anchor_seq}, head ${head_seq}:${head_hash}`
      : `FAILED: seq ${broken.seq} ${broken.problem}`
  return [verdict, ...unverified, ...forgeable]
}
