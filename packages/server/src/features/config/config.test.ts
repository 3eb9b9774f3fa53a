import { configApi, consoleApi } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario } from '../../testing/scenario.ts'

const secret = 'not-for-your-eyes'

describe.each(testBackends)('the view of the configuration on $name', (backend) => {
  async function view(config: Record<string, string>) {
    const scenario = await openScenario(backend, config)
    const body = { username: 'admin', password: config['console.password'] ?? 'password' }
    const login = await scenario.api.call('POST', '/console/v1/login', { body })
    const { token } = consoleApi.login.ok.parse(login.body)
    const answer = await scenario.api.call('GET', '/console/v1/config', { token })
    const stranger = await scenario.api.call('GET', '/console/v1/config')
    const sourced = await scenario.api.call('GET', '/console/v1/config?sources=true', { token })
    await scenario.dispose()
    return { answer, stranger, sourced }
  }

  it('[H-CFG-1] [H-CFG-3] shows the effective values, groups and keys in text order', async () => {
    const { answer, stranger } = await view({
      'server.node_id': 'node-7',
      'runtime.outbound_http.allowed_ports': '80,8443',
      'http.openapi': 'false',
    })
    expect(stranger.status).toBe(401)
    expect(answer.status).toBe(200)
    const { groups, ...head } = configApi.get.ok.parse(answer.body)
    expect(head).toEqual({ node_id: 'node-7', version: '0.0.0-test', backend: backend.name })
    const names = groups.map(({ name }) => name)
    expect(names).toEqual(names.toSorted())
    for (const { entries } of groups) {
      const keys = entries.map(({ key }) => key)
      expect(keys).toEqual(keys.toSorted())
      expect(new Set(keys).size).toBe(keys.length)
    }
    const value = (group: string, key: string) =>
      groups.find(({ name }) => name === group)?.entries.find((entry) => entry.key === key)?.value
    expect(value('server', 'node_id')).toBe('node-7')
    expect(value('http', 'openapi')).toBe('false')
    expect(value('runtime', 'outbound_http.allowed_ports')).toBe('[80, 8443]')
    expect(value('authentication', 'hashing.memory_kib')).toBe('8192')
    expect(value('console', 'token_expiry_sec')).toBe('3600')
    expect(value('transport', 'quic.bind')).toBe('127.0.0.1:7351')
    expect(value('console', 'viewer_username')).toBeUndefined()
    expect(value('http', 'tls.certificate_file')).toBeUndefined()
  })

  it('[H-CFG-1] says where values came from only when it is asked to', async () => {
    const { answer, sourced } = await view({})
    const plain = configApi.get.ok.parse(answer.body)
    const { groups } = configApi.get.ok.parse(sourced.body)
    for (const [at, { entries }] of groups.entries()) {
      for (const [index, { source, ...entry }] of entries.entries()) {
        expect(source).toBe('default')
        // Without the question an entry has the two members of the interface.
        expect(plain.groups[at]?.entries[index]).toStrictEqual(entry)
      }
    }
  })

  it('[H-CFG-2] hides passwords, verifiers, keys and what a URL may carry', async () => {
    const phc = '$argon2id$v=19$m=8192,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g'
    const { answer } = await view({
      'console.password': secret,
      'console.viewer_password': phc,
      'logs.audit_chain_key': `${secret}-${'k'.repeat(32)}`,
      'database.url': `postgres://user-${secret}:${secret}@db.example.com:5432/game?password=${secret}&application_name=guildhall`,
    })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain(secret)
    expect(answer.text).not.toContain('argon2id')
    const { groups } = configApi.get.ok.parse(answer.body)
    const shown = new Map(
      groups.flatMap(({ name, entries }) =>
        entries.map(({ key, value }) => [`${name}.${key}`, value]),
      ),
    )
    expect(shown.get('console.password')).toBe('<redacted>')
    expect(shown.get('console.viewer_password')).toBe('<redacted>')
    expect(shown.get('logs.audit_chain_key')).toBe('<redacted>')
    const url = 'postgres://db.example.com:5432/game?application_name=guildhall'
    expect(shown.get('database.url')).toBe(url)
  })
})
