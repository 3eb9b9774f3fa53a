import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { describeDefault } from './redact.ts'
import { referenceFile, renderReference } from './reference.ts'
import { keys, sections } from './schema.ts'
import { checkText, isSecret } from './values/values.ts'

const noFiles = () => ({ fault: { wrong: 'names no file', allowed: 'a file' } })

describe('the schema', () => {
  it('[O-KEY-1] is what the reference page says', () => {
    expect(readFileSync(referenceFile, 'utf8')).toBe(renderReference())
  })

  it('[O-KEY-1] names every key on the reference page, with its purpose', () => {
    const page = renderReference()
    for (const [name, key] of keys) {
      expect(page).toContain(`| \`${name.slice(name.indexOf('.') + 1)}\` |`)
      expect(page).toContain(key.doc)
    }
  })

  it('[O-SEC-1] knows exactly these secrets', () => {
    const secrets = [...keys].filter(([, key]) => isSecret(key)).map(([name]) => name)
    expect(secrets.toSorted()).toEqual([
      'cluster.listen_url',
      'cluster.nats_url',
      'console.password',
      'console.viewer_password',
      'database.url',
      'logs.audit_chain_key',
    ])
  })

  it('[O-ENV-1] has names that the environment can spell', () => {
    for (const name of [...keys.keys(), ...sections]) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)*$/)
    }
  })

  it.each([...keys].filter(([, key]) => key.default !== undefined))(
    '[O-CFG-5] accepts the default of %s',
    (_name, key) => {
      expect(checkText(key, describeDefault(key) ?? '', noFiles)).toEqual({ value: key.default })
    },
  )
})
