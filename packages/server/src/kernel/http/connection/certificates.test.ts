import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFakeClock } from '../../clock.fake.ts'
import { createRecordedLog } from '../../log/log.fake.ts'
import { makeCertificate } from './certificates.fixture.ts'
import { type CertificatePair, createCertificateReload, readCertificate } from './certificates.ts'

const dayMs = 86_400_000

/** Two files in a folder of their own, and a reload that looks at them. */
async function open(daysOfLife = 365) {
  const clock = createFakeClock()
  const log = createRecordedLog()
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-certificates-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const make = (days: number) =>
    makeCertificate({
      fromUnixMs: clock.nowUnixMs() - dayMs,
      untilUnixMs: clock.nowUnixMs() + days * dayMs,
    })
  const files = {
    certificate_file: join(folder, 'certificate.pem'),
    private_key_file: join(folder, 'key.pem'),
  }
  const write = async (pair: CertificatePair) => {
    await writeFile(files.certificate_file, pair.certificate)
    await writeFile(files.private_key_file, pair.privateKey)
  }
  const current = make(daysOfLife)
  await write(current)
  const applied: CertificatePair[] = []
  const reload = createCertificateReload({
    files,
    current,
    clock,
    log,
    apply: (pair) => void applied.push(pair),
  })
  const warnings = () =>
    log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  return { clock, folder, files, current, make, write, reload, applied, warnings, log }
}

describe('at start', () => {
  it('[O-TLS-1] takes a pair that loads, belongs together and lives', async () => {
    const { files, clock, current } = await open()
    expect(await readCertificate(files, clock)).toEqual(current)
  })

  it('[O-TLS-1] refuses a key of another certificate, a broken file, a missing one', async () => {
    const { files, clock, current, make, write } = await open()
    await write({ ...current, privateKey: make(365).privateKey })
    await expect(readCertificate(files, clock)).rejects.toThrow()
    await write({ ...current, certificate: current.certificate.slice(0, 200) })
    await expect(readCertificate(files, clock)).rejects.toThrow()
    await rm(files.certificate_file)
    await expect(readCertificate(files, clock)).rejects.toThrow()
  })

  it('[O-TLS-1] refuses a pair that has expired, to the millisecond', async () => {
    const { files, clock } = await open(1)
    await clock.advance(dayMs - 1)
    await expect(readCertificate(files, clock)).resolves.toBeDefined()
    await clock.advance(1)
    await expect(readCertificate(files, clock)).rejects.toMatchObject({
      name: 'CertificateUnfit',
      cause: { message: expect.stringContaining('has expired') },
    })
  })
})

describe('while running', () => {
  it('[O-TLS-3] applies a new pair once, by its content', async () => {
    const { reload, applied, make, write, current } = await open()
    await reload()
    await write(current)
    await reload()
    expect(applied).toEqual([])
    const next = make(365)
    await write(next)
    await reload()
    await reload()
    expect(applied).toEqual([next])
  })

  it('[O-TLS-3] sees what stands behind a link', async () => {
    const { reload, applied, make, files, folder, current } = await open()
    const next = make(365)
    for (const [version, pair] of [
      ['old', current],
      ['new', next],
    ] as const) {
      await writeFile(join(folder, `${version}.pem`), pair.certificate)
      await writeFile(join(folder, `${version}.key`), pair.privateKey)
    }
    const link = async (version: string) => {
      await symlink(join(folder, `${version}.pem`), join(folder, 'link'))
      await rename(join(folder, 'link'), files.certificate_file)
      await symlink(join(folder, `${version}.key`), join(folder, 'link'))
      await rename(join(folder, 'link'), files.private_key_file)
    }
    await link('old')
    await reload()
    expect(applied).toEqual([])
    await link('new')
    await reload()
    expect(applied).toEqual([next])
  })

  it('[O-TLS-3] keeps the old pair while the new one is half written, does not match or has expired', async () => {
    const { reload, applied, make, write, files, warnings, log } = await open()
    const next = make(365)
    await writeFile(files.certificate_file, next.certificate)
    await reload()
    await writeFile(files.private_key_file, next.privateKey.slice(0, 60))
    await reload()
    await write(make(-0.5))
    await reload()
    expect([applied, warnings()]).toEqual([
      [],
      Array(3).fill('the new certificate cannot be used; the old one stays'),
    ])
    expect(JSON.stringify(log.lines)).not.toContain('PRIVATE KEY')
    await write(next)
    await reload()
    expect(applied).toEqual([next])
  })

  it('[O-TLS-1] warns once a day below 14 days of life', async () => {
    const { reload, clock, warnings } = await open(15)
    await reload()
    await clock.advance(dayMs)
    await reload()
    expect(warnings()).toEqual([])
    await clock.advance(60_000)
    for (let look = 0; look < 3; look += 1) await reload()
    expect(warnings()).toEqual(['the certificate ends soon'])
    await clock.advance(dayMs)
    await reload()
    expect(warnings()).toHaveLength(2)
  })
})
