import { webSource } from './prelude-web.ts'

/**
 * The first code inside of the sandboxed engine: what scripts find as globals, and the guest's side
 * of the bridge. Values cross as texts (marked-json.ts).
 *
 * What follows a wait belongs to its handler, whoever ended the wait: `then` notes who asks, and
 * what another one ends is handed to the host, which runs it as a slice of its own. An `await`
 * comes by `then` as well, because promises have another constructor than the engine's own
 * (decision "Whose code follows a wait").
 */
export const preludeSource = String.raw`(() => {
'use strict'
const host = globalThis.guildhallHost
delete globalThis.guildhallHost
for (const name of ['performance', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'Intl',
  'FinalizationRegistry', 'std', 'os', 'bjson', 'navigator', 'gc']) delete globalThis[name]
// It would show the functions of this file, which are on the stack.
delete Error.prepareStackTrace

const { parse, stringify } = JSON
const { isArray } = Array
const { isFinite } = Number
const { keys, freeze, defineProperty, prototype: { toString } } = Object
const { apply } = Reflect
const { fromCharCode } = String
const { charCodeAt, includes, slice, toWellFormed } = String.prototype
const NativePromise = Promise
const nativeThen = Promise.prototype.then
const NativeMap = Map, NativeSet = Set, NativeWeakMap = WeakMap
const NativeError = Error, Bytes = Uint8Array
const { get: mapGet, set: mapSet, delete: mapDelete } = Map.prototype
const { add: setAdd, delete: setDelete, forEach: setForEach } = Set.prototype
const { get: weakGet, set: weakSet } = WeakMap.prototype
const op = { settled: -1, failed: -2, defer: -3, print: -4, encode: -5, decode: -6, drained: -7 }
const mark = '\0'

// One run of a handler: what it waits for, and whether it has been given up.
function newRun(id) { return { id, isGone: false, waits: new NativeSet() } }

let owner = newRun(0)
let isStopping = false
let lastId = 0
const handlers = new NativeMap()
const waits = new NativeMap()
const signals = new NativeWeakMap()
// By the number of their run: runs that wait, and what others have set free of them.
const waiting = new NativeMap()
const deferred = new NativeMap()

class GuildhallError extends Error {
  constructor({ message, code, index, reason }) {
    super(message)
    this.code = code
    if (index !== undefined) this.index = index
    if (reason !== undefined) this.reason = reason
  }
}
defineProperty(GuildhallError.prototype, 'name', { value: 'GuildhallError' })

function refuse(message) { return new GuildhallError({ code: 'invalid_argument', message }) }

// A lone surrogate is written as the sign for what cannot be shown.
function wellFormed(text) { return apply(toWellFormed, text, []) }

// Of what only people read, no more crosses than they see.
function cut(text, most) {
  return text.length > most ? apply(slice, text, [0, most]) + ' [cut]' : text
}

function bytesText(bytes) {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096) {
    text += apply(fromCharCode, null, bytes.subarray(at, at + 4096))
  }
  return text
}

function textBytes(text, from = 0) {
  const bytes = new Bytes(text.length - from)
  for (let n = from; n < text.length; n += 1) bytes[n - from] = apply(charCodeAt, text, [n])
  return bytes
}

function plain(value, level) {
  switch (typeof value) {
    case 'string': case 'boolean': return value
    case 'number': return isFinite(value) ? value : { [mark]: 'n' + value }
    case 'bigint': return { [mark]: 'i' + value }
    case 'undefined': return { [mark]: 'u' }
    case 'function': return { [mark]: level === 0 ? 'f' + keep(value) : 'xfunction' }
    case 'symbol': return { [mark]: 'xsymbol' }
  }
  if (value === null) return null
  if (level > 64) throw refuse('a value has more than 64 levels')
  if (value instanceof Bytes) return { [mark]: 'b' + bytesText(value) }
  if (isArray(value)) {
    const items = []
    for (let n = 0; n < value.length; n += 1) items[n] = plain(value[n], level + 1)
    return items
  }
  if (typeof value.toJSON === 'function') return plain(value.toJSON(), level + 1)
  const kind = apply(toString, value, [])
  if (kind !== '[object Object]') return { [mark]: 'x' + apply(slice, kind, [8, -1]) }
  const members = {}
  for (const name of keys(value)) {
    defineProperty(members, name[0] === mark ? mark + name : name,
      { value: plain(value[name], level + 1), enumerable: true })
  }
  return members
}

function keep(fn) {
  lastId += 1
  apply(mapSet, handlers, [lastId, fn])
  return lastId
}

function read(text) {
  const value = parse(text)
  return apply(includes, text, ['\\u0000']) ? revived(value) : value
}

function revived(value) {
  if (typeof value !== 'object' || value === null) return value
  if (isArray(value)) {
    for (let n = 0; n < value.length; n += 1) value[n] = revived(value[n])
    return value
  }
  const special = value[mark]
  if (typeof special === 'string') {
    if (special[0] === 'i') return BigInt(apply(slice, special, [1]))
    return special[0] === 'b' ? textBytes(special, 1) : undefined
  }
  const members = {}
  for (const name of keys(value)) {
    defineProperty(members, name[0] === mark ? apply(slice, name, [1]) : name,
      { value: revived(value[name]), enumerable: true, writable: true, configurable: true })
  }
  return members
}

function errorOf(text, here) {
  const said = parse(text)
  if (said.signal === undefined) {
    const error = new GuildhallError(said)
    if (here !== undefined) defineProperty(error, 'stack', { value: here.stack })
    return error
  }
  const error = new NativeError(said.message)
  defineProperty(error, 'name', { value: 'guildhall.fail' })
  apply(weakSet, signals, [error, said.signal])
  return error
}

function answer(said) {
  if (said === undefined) return undefined
  const rest = apply(slice, said, [1])
  switch (said[0]) {
    case 'v': return read(rest)
    case 'e': throw errorOf(rest)
    case 'p': return new NativePromise((resolve, reject) => {
      // Its stack names the line that waits.
      apply(mapSet, waits, [+rest, { run: owner, resolve, reject, here: new NativeError() }])
      apply(setAdd, owner.waits, [+rest])
    })
  }
}

function fn(id, waiting) {
  if (waiting) return async (...args) => answer(host(id, stringify(plain(args, 0))))
  return (...args) => {
    for (let n = 0; n < args.length; n += 1) {
      args[n] = plain(args[n], 0)
    }
    return answer(host(id, stringify(args)))
  }
}

function thrownText(thrown) {
  const text = String(thrown)
  if (text !== '[object Object]') return text
  // A large one is not written out to be cut.
  let left = 1000
  const shown = (_, value) => {
    if (--left < 0) throw new NativeError('more than a log shows')
    return typeof value === 'bigint' ? '' + value : value
  }
  try { return stringify(thrown, shown) ?? text } catch { return text }
}

function described(error) {
  try {
    const signal = typeof error === 'object' && error !== null
      ? apply(weakGet, signals, [error]) : undefined
    const isError = error instanceof NativeError
    const message = isError ? error.name + ': ' + error.message : 'thrown: ' + thrownText(error)
    const said = { message: cut(message, 4096) }
    if (!isError) return said
    return { ...said, stack: cut(String(error.stack), 4096), signal }
  } catch { return { message: 'an error that cannot be read' } }
}

function result(value) {
  if (value === undefined) return undefined
  if (value instanceof Bytes) return value
  return typeof value === 'string' ? 't' + wellFormed(value) : 'v' + stringify(plain(value, 1))
}

function finished(run, value) {
  const isThenable = typeof value === 'object' && value !== null && typeof value.then === 'function'
  if (!isThenable) return result(value)
  const promise = value instanceof NativePromise ? value : new NativePromise((to) => to(value))
  apply(mapSet, waiting, [run.id, run])
  const failed = (error) => {
    apply(mapDelete, waiting, [run.id])
    host(op.failed, stringify([run.id, described(error)]))
  }
  apply(nativeThen, promise, [
    (settled) => {
      try {
        const text = stringify([run.id, plain(settled, 1)])
        apply(mapDelete, waiting, [run.id])
        host(op.settled, text)
      } catch (error) { failed(error) }
    },
    failed,
  ])
  return 'w'
}

// Whose code follows a wait.
defineProperty(Promise.prototype, 'then', {
  configurable: true, writable: true,
  value: function then(onSettled, onFailed) {
    const asking = owner
    return new NativePromise((resolve, reject) => {
      const settle = (work, otherwise) => (value) => {
        if (asking.isGone) return
        const go = () => {
          if (typeof work !== 'function') { otherwise(value); return }
          try { resolve(work(value)) } catch (error) { reject(error) }
        }
        if (owner === asking) {
          if (!isStopping) go()
          return
        }
        const more = apply(mapGet, deferred, [asking.id])
        if (more !== undefined) {
          more.work[more.work.length] = go
          return
        }
        apply(mapSet, deferred, [asking.id, { run: asking, work: [go] }])
        host(op.defer, stringify([asking.id]))
      }
      apply(nativeThen, this, [settle(onSettled, resolve), settle(onFailed, reject)])
    })
  },
})
defineProperty(Promise.prototype, 'constructor', {
  value: class extends Promise { static get [Symbol.species]() { return NativePromise } },
})

${webSource}

// Rooms with state: the state stays in here, and is read when a slice has ended.
function roomDefiner(rooms) {
  const call = {}
  for (const { name, id } of rooms) call[name] = fn(id, false)
  const states = new NativeMap(), faces = new NativeMap()
  const stateOf = (id) => apply(mapGet, states, [id])
  const faceOf = (id) => {
    const known = apply(mapGet, faces, [id])
    if (known !== undefined) return known
    const face = freeze({
      room_id: id,
      get match_id() { return call.info(id)?.match_id },
      get name() { return call.info(id)?.name },
      get members() { return call.info(id)?.members ?? [] },
      get label() { return call.info(id)?.label },
      set label(label) { call.relabel(id, label) },
      get state() { return stateOf(id) },
      set state(state) { apply(mapSet, states, [id, state]) },
      broadcast: (kind, body, options) => { call.broadcast(id, kind, body, options) },
      send: (to, kind, body, options) => { call.send(id, to, kind, body, options) },
      after: (ms, task) => call.after(id, ms, task),
    })
    apply(mapSet, faces, [id, face])
    return face
  }
  const own = {
    '@read': (_, __, id) => {
      const state = stateOf(id)
      if (state === undefined) throw refuse('room.state: it is undefined, which is no JSON')
      return state
    },
    '@write': (_, state, id) => { apply(mapSet, states, [id, state]) },
    '@forget': (_, __, id) => { apply(mapDelete, states, [id]); apply(mapDelete, faces, [id]) },
  }
  const shapes = {
    create: (given) => (ctx, options) => given(ctx, options),
    restore: (given) => (_, state, id) => given(state, faceOf(id)),
    view: (given) => (_, __, id) => given(stateOf(id)),
    own: (given) => (member, _, id) => given(stateOf(id), member),
    ended: (given) => (_, __, id) => given(faceOf(id)),
  }
  const withBody = (given) => (ctx, body, id) => given(ctx, body, faceOf(id))
  const usual = (given) => (about, _, id) => given(about, faceOf(id))
  return (name, definition) => {
    if (typeof definition !== 'object' || definition === null || isArray(definition)) {
      throw refuse('room: the definition must be an object')
    }
    const members = {}
    call.define(name)
    for (const key of keys(definition)) {
      const value = definition[key]
      if (typeof value === 'function') call.handler(key, (shapes[key] ?? usual)(value))
      else if ((key === 'message' || key === 'rpc') && typeof value === 'object' && value) {
        for (const each of keys(value)) {
          const path = key + '.' + each
          if (typeof value[each] !== 'function') throw refuse(path + ' is not a function')
          call.reply(path, withBody(value[each]))
        }
      } else members[key] = value
    }
    for (const key of keys(own)) call.handler(key, own[key])
    call.done(members)
  }
}

return {
  build(text) {
    const { identity, functions, rooms } = parse(text)
    const api = { ...identity, room: freeze(roomDefiner(rooms)) }
    for (const { name, id, waiting } of functions) {
      const [space, member] = name.split('.')
      if (member === undefined) api[space] = freeze(fn(id, waiting))
      else (api[space] ??= {})[member] = freeze(fn(id, waiting))
    }
    for (const part of Object.values(api)) freeze(part)
    defineProperty(globalThis, 'guildhall', { value: freeze(api) })
  },
  load(name, id) {
    owner = newRun(id)
    return finished(owner, import(name))
  },
  call(id, runId, args, body) {
    const run = newRun(runId)
    owner = run
    try {
      const given = read(args)
      if (body !== undefined) given[given.length] = body
      return finished(run, apply(apply(mapGet, handlers, [id]), undefined, given))
    } catch (error) { return 'e' + stringify(described(error)) }
  },
  settle(id, isOk, text) {
    const wait = apply(mapGet, waits, [id])
    if (wait === undefined) return
    apply(mapDelete, waits, [id])
    apply(setDelete, wait.run.waits, [id])
    owner = wait.run
    if (isOk) wait.resolve(read(text))
    else wait.reject(errorOf(text, wait.here))
  },
  goOn(id) {
    const next = apply(mapGet, deferred, [id])
    if (next === undefined) return
    apply(mapDelete, deferred, [id])
    owner = next.run
    for (const go of next.work) go()
  },
  // A run has been given up: nothing of it goes on, and nothing of it is kept.
  forget(id) {
    const run = owner.id === id ? owner : apply(mapGet, waiting, [id])
    if (run === undefined) return
    run.isGone = true
    apply(mapDelete, waiting, [id])
    apply(mapDelete, deferred, [id])
    apply(setForEach, run.waits, [(wait) => { apply(mapDelete, waits, [wait]) }])
  },
  // A slice has been interrupted. Jobs that stand behind this one are its own.
  stop() {
    isStopping = true
    apply(nativeThen, new NativePromise((done) => { done() }), [() => { host(op.drained, '') }])
  },
  stopped() { isStopping = false },
  release(id) { apply(mapDelete, handlers, [id]) },
}
})()`
