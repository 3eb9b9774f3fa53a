import { describe, expect, it } from 'vitest'
import { batchStatement, eachEngine, type StatementText, statement } from '../statement.ts'
import { type Dialect, onlyReads, renderStatement } from './dialect.ts'

const dialect: Dialect = {
  engine: 'sqlite',
  parameter: (index, type) => `<${index} ${type}>`,
  rows: (params) => `<rows ${Object.keys(params).join(' ')}>`,
  given: (params) => `<given ${Object.keys(params).join(' ')}>`,
  lock: (strength, table) => `<${strength} ${table}>`,
  unplanned: (parameter) => `<any ${parameter}>`,
  lateral: '<lateral>',
  contains: (whole, part) => `<${part} in ${whole}>`,
  now: '<now>',
  fence: '<fence>',
}

function render(text: StatementText): string {
  return renderStatement(
    statement({ name: 'x', text, params: { a: 'text', b: 'bigint' } }),
    dialect,
  )
}

describe('a statement', () => {
  it('has its parameters numbered in the order of their declaration', () => {
    expect(render('SELECT :b, :a, :b')).toBe('SELECT <2 bigint>, <1 text>, <2 bigint>')
  })

  it('keeps literals, quoted names, comments and casts as they are', () => {
    const kept = `':c it''s {{x}}' ":c" 1::text -- :c {{y}}\n`
    expect(render(`${kept}:a :b`)).toBe(`${kept}<1 text> <2 bigint>`)
  })

  it('has a name that PostgreSQL distinguishes from every other', () => {
    const text = 'SELECT 1'
    expect(statement({ name: `${'é'.repeat(29)}e`, text }).name).toHaveLength(30)
    expect(() => statement({ name: 'é'.repeat(30), text })).toThrow('is too long a name')
  })

  it.each([
    ['{{now}} :a :b', '<now> <1 text> <2 bigint>'],
    ['{{for update of t}} :a :b', '<update t> <1 text> <2 bigint>'],
    ['{{for share of t}} :a :b', '<share t> <1 text> <2 bigint>'],
    ['{{contains t.name :a}} :b', '<<1 text> in t.name> <2 bigint>'],
    [':a LIMIT {{unplanned :b}}', '<1 text> LIMIT <any <2 bigint>>'],
    ['{{lateral}} :a, :b', '<lateral> <1 text>, <2 bigint>'],
    ['(SELECT :a, :b {{fence}}) AS x', '(SELECT <1 text>, <2 bigint> <fence>) AS x'],
  ])('has its words replaced: %s', (text, rendered) => {
    expect(render(text)).toBe(rendered)
  })

  it('has the text of its engine', () => {
    const text = eachEngine((engine) => `SELECT '${engine}', :a, :b`)
    expect(render(text)).toBe("SELECT 'sqlite', <1 text>, <2 bigint>")
    const changes = { postgres: 'SELECT 1', sqlite: 'DELETE FROM t' }
    expect(onlyReads('postgres', statement({ name: 'x', text: changes }))).toBe(true)
    expect(onlyReads('sqlite', statement({ name: 'x', text: changes }))).toBe(false)
  })

  it('has the rows of a batch replaced', () => {
    const batch = batchStatement({ name: 'x', text: '{{rows}} r', params: { a: 'text' } })
    expect(renderStatement(batch, dialect)).toBe('<rows a> r')
    const insert = batchStatement({ name: 'x', text: 'INTO t {{given}}', params: { a: 'text' } })
    expect(renderStatement(insert, dialect)).toBe('INTO t <given a>')
  })

  it.each([
    ['a parameter that is not declared', 'SELECT :a, :b, :c', ':c'],
    ['a parameter that is declared and not used', 'SELECT :a', ':b'],
    ['an unknown word', 'SELECT :a, :b {{for keep of t}}', '{{for keep of t}}'],
    ['a part that is not declared', 'SELECT :a, :b, {{contains t.name :c}}', ':c'],
  ])('is refused for %s', (_case, text, named) => {
    expect(() => render(text)).toThrow(named)
  })

  it.each([
    ['SELECT 1', true],
    ['  select 1', true],
    ['VALUES (1)', true],
    ['WITH x AS (SELECT 1) SELECT * FROM x', true],
    ['SELECT id FROM t {{for update of t}}', false],
    ['WITH x AS (SELECT 1) UPDATE t SET a = 1', false],
    ['INSERT INTO t SELECT 1', false],
    ['UPDATE t SET a = 1 RETURNING a', false],
    ['DELETE FROM t', false],
  ])('%j only reads: %s', (text, expected) => {
    expect(onlyReads('sqlite', statement({ name: 'x', text }))).toBe(expected)
  })
})
